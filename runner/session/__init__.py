"""Sessions: from the targets that a user names to their outcomes."""
