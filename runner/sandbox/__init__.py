"""Programs under limits: the only package that starts processes."""
