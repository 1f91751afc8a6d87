"""Studies: a bug over a grid of parameters; how far its harm reaches."""
