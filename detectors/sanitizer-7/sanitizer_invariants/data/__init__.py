"""Data: batches, workers, and the scale of inputs."""
