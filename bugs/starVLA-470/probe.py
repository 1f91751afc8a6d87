"""How many different steps of demonstrations the workers have drawn so far."""

from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

seen = set()


def start():
    given = _MultiProcessingDataLoaderIter.__next__

    def watched(batches):
        observations, actions = given(batches)
        seen.update(observation.numpy().tobytes() for observation in observations)
        return observations, actions

    _MultiProcessingDataLoaderIter.__next__ = watched


def look(names):
    return {"different_so_far": len(seen)}
