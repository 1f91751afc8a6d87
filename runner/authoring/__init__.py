"""Tools for people who write bugs: validation, scaffolding, working copies."""
