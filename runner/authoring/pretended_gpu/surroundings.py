"""What a machine with a GPU has around a script: torch.cuda, compilers, checkpoints."""

import functools
import os

import torch
from pretended_gpu.labels import CPU_LABEL, GPU_LABEL, LABELS, is_cuda, list_tensors

ANSWERS = {
    "is_available": True,
    "device_count": 1,
    "current_device": 0,
    "is_initialized": True,
    "get_device_name": "a pretended GPU",
    "get_device_capability": (9, 0),
    "is_bf16_supported": True,
    "is_current_stream_capturing": False,
    "max_memory_allocated": 0,
    "memory_allocated": 0,
    "_exchange_device": 0,
    "_maybe_exchange_device": 0,
}
SILENT = (
    "_lazy_init",
    "init",
    "synchronize",
    "empty_cache",
    "set_device",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "set_rng_state",
    "set_rng_state_all",
)
# What optimizers ask the driver before a step.
CAPTURES = ("_cuda_graph_capture_health_check", "_accelerator_graph_capture_health_check")


def pretend():
    """Put a GPU into `torch.cuda`."""
    for name in (*ANSWERS, *SILENT):
        setattr(torch.cuda, name, functools.partial(answer, ANSWERS.get(name)))
    torch.cuda.get_rng_state = lambda *_: torch.get_rng_state()
    torch.cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    torch.cuda.default_generators = (torch.default_generator,)
    for name in CAPTURES:
        setattr(torch.optim.Optimizer, name, functools.partialmethod(answer))
    # Recurrent networks would join their weights for cuDNN.
    torch.backends.cudnn.is_acceptable = functools.partial(answer, False)
    torch.compile = compiled
    # For scripts that call Dynamo by itself.
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    torch.save, torch.load = remembering(torch.save, torch.load)


def answer(value=None, *_, **__):
    return value


class Compilation:
    """Whether the script has asked for it."""

    is_left_out = False


def compiled(model=None, **_):
    """In place of torch.compile: the model as it is."""
    Compilation.is_left_out = True
    return (lambda function: function) if model is None else model


def remembering(save, load):
    """torch.save and torch.load that know on which device each tensor of a file was."""
    labels = {}

    def keep(obj, f, *args, **kwargs):
        labels[str(f)] = [LABELS.is_gpu(tensor) for tensor in tensors_within(obj)]
        return save(obj, f, *args, **kwargs)

    def restore(f, map_location=None, *args, **kwargs):
        result = load(f, "cpu", *args, **kwargs)
        were = labels.get(str(f), ())
        place = None if map_location is None or callable(map_location) else map_location
        for number, tensor in enumerate(tensors_within(result)):
            was_gpu = number < len(were) and were[number]
            is_gpu = was_gpu if isinstance(place, dict) or place is None else is_cuda(place)
            LABELS.put(tensor, GPU_LABEL if is_gpu else CPU_LABEL)
        return result

    return keep, restore


def tensors_within(value):
    """The tensors of what a checkpoint holds, modules among it, in its order."""
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    return list_tensors(value)
