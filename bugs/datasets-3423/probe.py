"""How many different digits the workers have handed over so far."""

from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

seen = set()


def start():
    given = _MultiProcessingDataLoaderIter.__next__

    def watched(batches):
        images, labels = given(batches)
        seen.update(image.numpy().tobytes() for image in images)
        return images, labels

    _MultiProcessingDataLoaderIter.__next__ = watched


def look(names):
    return {"different_so_far": len(seen)}
