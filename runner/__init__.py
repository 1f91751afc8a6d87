"""The benchmark's runner: from a bug in the catalogue to a verdict."""
