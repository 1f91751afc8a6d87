"""How many different signals the workers have made so far."""

from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

seen = set()


def start():
    given = _MultiProcessingDataLoaderIter.__next__

    def watched(batches):
        signals, labels = given(batches)
        seen.update(signal.numpy().tobytes() for signal in signals)
        return signals, labels

    _MultiProcessingDataLoaderIter.__next__ = watched


def look(names):
    return {"different_so_far": len(seen)}
