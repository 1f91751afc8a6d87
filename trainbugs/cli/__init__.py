"""The command line `trainbugs`."""
