"""Progress of long work: what a user sees on the terminal."""
