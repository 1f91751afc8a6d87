"""Running detectors on programs."""
