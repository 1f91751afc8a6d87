"""Files: reading untrusted ones, locks between processes, atomic writes."""
