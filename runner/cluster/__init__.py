"""Execution of runs on the workers of a cluster: Dask or Slurm."""
