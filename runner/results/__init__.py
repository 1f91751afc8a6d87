"""Run records and verdicts: their format, and the folders that hold them."""
