"""How many iterations the programs of a bug have, and from which one on its twins differ."""
