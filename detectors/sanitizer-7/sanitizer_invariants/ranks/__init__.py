"""Ranks: the processes of a distributed training."""
