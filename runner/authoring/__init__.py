"""Tools for people who write bugs: validation, scaffold, working copies."""
