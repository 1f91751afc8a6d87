"""How good is a bug detector? Runs detectors over bugs, their fixed twins and clean controls, and scores them."""
