"""The catalogue of an evaluation: detectors, and clean programs beside the bugs."""
