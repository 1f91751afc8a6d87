"""Files: reading untrusted ones, JSON as structs, inter-process locks, atomic writes."""
