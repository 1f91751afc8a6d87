"""What can be evaluated: detectors, and the programs beside the bugs."""
