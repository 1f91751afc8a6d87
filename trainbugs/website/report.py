"""A user's own results as one self-contained page: verdicts, what was observed, curves, scores of detectors."""
