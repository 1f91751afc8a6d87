"""Progress of long work, as a user sees it."""
