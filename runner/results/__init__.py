"""Run records: their format, and the folders that hold them."""
