"""The detectors of this repository."""

OWN = ("api-sequence", "gradient-cycle", "optimizer-progress")
