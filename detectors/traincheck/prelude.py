"""Run a program, on a machine without a GPU too, where TrainCheck stumbles over an attribute of torch.backends.cuda."""

import runpy
import sys

import torch

# Without a GPU it answers every question with an error of CUDA, not with an AttributeError.
if not torch.cuda.is_available():
    del torch.backends.cuda.cufft_plan_cache
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
