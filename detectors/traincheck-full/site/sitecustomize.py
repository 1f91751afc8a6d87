"""Python imports this at its start, in each process of a traced program: TrainCheck stumbles over torch without a GPU.

An attribute of torch.backends.cuda answers every question with an error of CUDA there, not with an AttributeError.
"""

import torch

if not torch.cuda.is_available():
    del torch.backends.cuda.cufft_plan_cache
