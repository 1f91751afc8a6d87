"""A GPU that is none, for a script that is to be checked; see __main__."""
