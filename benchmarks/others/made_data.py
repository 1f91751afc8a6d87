"""Made data: random patterns in the formats that the programs read."""

import csv
import gzip
import pickle
from datetime import datetime, timedelta

import numpy
from PIL import Image

# Whole batches of 100 for training: a program for the 60000 of MNIST may rely on them.
IMAGES = {"train": 600, "t10k": 128}
LETTERS = 65
# With those of the question that minGPT asks its model.
CHARACTERS = " eotaniOGdm!,bcfghjklpqrsuvwxyz"


def digits(folder):
    """Files as those of MNIST: ten patterns of 28x28 pixels, with noise."""
    digits_in(folder / "MNIST" / "raw")


def fashion(folder):
    """The same under the name of Fashion-MNIST."""
    digits_in(folder / "FashionMNIST" / "raw")


def digits_in(raw):
    raw.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(0)
    patterns = random.integers(0, 160, (10, 28, 28))
    for part, count in IMAGES.items():
        labels = random.integers(0, 10, count).astype(numpy.uint8)
        images = (patterns[labels] + random.integers(0, 96, (count, 28, 28))).astype(numpy.uint8)
        sizes = numpy.array([count, 28, 28], ">i4").tobytes()
        files = {
            "images-idx3": b"\0\0\x08\x03" + sizes + images.tobytes(),
            "labels-idx1": b"\0\0\x08\x01" + sizes[:4] + labels.tobytes(),
        }
        for kind, content in files.items():
            (raw / f"{part}-{kind}-ubyte").write_bytes(content)
            (raw / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(content))


def small_photographs(random, count, classes):
    """Labels, and rows of 3x32x32 pixels: a pattern for each class, with noise."""
    patterns = random.integers(0, 160, (classes, 3072))
    labels = random.integers(0, classes, count)
    rows = patterns[labels] + random.integers(0, 96, (count, 3072))
    return labels.tolist(), rows.astype(numpy.uint8)


def cifar10(folder):
    """Files as those of CIFAR-10, with 64 images in each of the five batches."""
    place = folder / "cifar-10-batches-py"
    place.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(0)
    labels, rows = small_photographs(random, 384, 10)
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    for number, name in enumerate(names):
        part = slice(64 * number, 64 * (number + 1))
        content = {b"data": rows[part], b"labels": labels[part], b"fine_labels": labels[part]}
        (place / name).write_bytes(
            pickle.dumps({key.decode(): value for key, value in content.items()})
        )
    meta = {"label_names": [f"class {number}" for number in range(10)]}
    (place / "batches.meta").write_bytes(pickle.dumps(meta))
    # Its absence is what some programs take for an order to download.
    (folder / "cifar-10-python.tar.gz").write_bytes(b"")


def cifar100(folder):
    """Files as those of CIFAR-100."""
    place = folder / "cifar-100-python"
    place.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(0)
    labels, rows = small_photographs(random, 384, 100)
    for name, part in (("train", slice(0, 320)), ("test", slice(320, 384))):
        content = {"data": rows[part], "fine_labels": labels[part]}
        (place / name).write_bytes(pickle.dumps(content))
    names = [f"class {number}" for number in range(100)]
    (place / "meta").write_bytes(pickle.dumps({"fine_label_names": names}))


def photographs(folder):
    """Folders of images by class, as ImageFolder reads them."""
    random = numpy.random.default_rng(0)
    patterns = random.integers(0, 160, (4, 64, 64, 3))
    for part, count in (("train", 24), ("val", 6), ("test", 6), ("validation", 6)):
        for label, pattern in enumerate(patterns):
            place = folder / part / f"class{label}"
            place.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                pixels = pattern + random.integers(0, 96, pattern.shape)
                Image.fromarray(pixels.astype(numpy.uint8)).save(place / f"{number}.jpg")


def words(folder):
    """A text of made words, in three parts."""
    random = numpy.random.default_rng(0)
    for name, lines in (("train", 300), ("valid", 40), ("test", 40)):
        with (folder / f"{name}.txt").open("w") as file:
            for _ in range(lines):
                numbers = random.geometric(0.1, 20)
                file.write(" ".join(f"w{number}" for number in numbers) + "\n")


def tokens(folder):
    """Numbers of letters, as nanoGPT's scripts prepare them."""
    random = numpy.random.default_rng(0)
    for name, count in (("train", 20000), ("val", 4000)):
        random.geometric(0.1, count).clip(0, LETTERS - 1).astype(numpy.uint16).tofile(
            folder / f"{name}.bin"
        )
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": LETTERS}))


def letters(folder):
    random = numpy.random.default_rng(0)
    text = "".join(
        CHARACTERS[place] for place in random.geometric(0.2, 5000).clip(0, len(CHARACTERS) - 1)
    )
    (folder / "input.txt").write_text(text + CHARACTERS)


def names(folder):
    """A name in each line, of made syllables."""
    random = numpy.random.default_rng(0)
    syllables = ["an", "be", "co", "da", "el", "fi", "go", "ha", "il", "jo", "ka", "lu", "ma", "ne"]
    lines = ["".join(random.choice(syllables, random.integers(2, 5))) for _ in range(2000)]
    (folder / "names.txt").write_text("\n".join(sorted(set(lines))))


def stories(folder):
    """Shards of numbers of letters, as llama2.c prepares them for a vocabulary of its own."""
    random = numpy.random.default_rng(0)
    for shard in range(2):
        numbers = random.geometric(0.1, 20000).clip(0, LETTERS - 2)
        numbers.astype(numpy.uint16).tofile(folder / f"data{shard:02}.bin")


def sentences(folder):
    """Two sentences of made words in each line, with a tab between them."""
    random = numpy.random.default_rng(0)
    with (folder / "corpus.small").open("w") as file:
        for _ in range(1000):
            pair = random.geometric(0.1, (2, 8))
            halves = [words_of(half) for half in pair]
            file.write("\t".join(halves) + "\n")


def words_of(numbers):
    """A made word for each number, in one text."""
    return " ".join(f"w{number}" for number in numbers)


def shapes(folder):
    """A file as that of dSprites: a square of varied size and place in each image."""
    random = numpy.random.default_rng(0)
    images = numpy.zeros((1280, 64, 64), numpy.uint8)
    for image, (left, top, size) in zip(images, random.integers(4, 40, (1280, 3)), strict=True):
        image[top : top + size // 2, left : left + size // 2] = 1
    name = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
    numpy.savez_compressed(folder / name, imgs=images)


def electricity(folder):
    """Files as those of ETT: an hour in each row, and seven measured columns."""
    random = numpy.random.default_rng(0)
    count = 17420
    hours = numpy.arange(count)
    columns = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]
    values = numpy.sin(hours[:, None] / (4 + 3 * numpy.arange(7))) + random.normal(
        0, 0.1, (count, 7)
    )
    start = datetime(2016, 7, 1)
    for name in ("ETTh1", "ETTh2", "ETTm1"):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["date", *columns])
            for hour, row in zip(hours.tolist(), values.round(4).tolist(), strict=True):
                writer.writerow([str(start + timedelta(hours=hour)), *row])


def short_electricity(folder):
    """The same in 1500 rows, for programs that split by share."""
    electricity(folder)
    for path in folder.glob("ETT*.csv"):
        lines = path.read_text().splitlines()[:1500]
        path.write_text("\n".join(lines) + "\n")


def rates(folder):
    """Eight columns of numbers between commas, as LSTNet's data of exchange rates."""
    random = numpy.random.default_rng(0)
    walk = 1 + numpy.abs(random.normal(0, 0.01, (1200, 8)).cumsum(axis=0))
    numpy.savetxt(folder / "exchange_rate.txt", walk, fmt="%.6f", delimiter=",")


def ratings(folder):
    """Files as those of MovieLens 1M: user::item::rating::time."""
    random = numpy.random.default_rng(0)
    with (folder / "ratings.dat").open("w") as file:
        for _ in range(4000):
            user, item = random.integers(1, 200), random.integers(1, 300)
            file.write(f"{user}::{item}::{random.integers(1, 6)}::{random.integers(1, 10**6)}\n")


def graphs(folder):
    """Rings and stars of nodes with tags, as the file of MUTAG names them; its name is the folder's."""
    random = numpy.random.default_rng(0)
    lines = ["120"]
    for number in range(120):
        nodes, label = int(random.integers(6, 14)), number % 2
        lines.append(f"{nodes} {label}")
        for node in range(nodes):
            ring = sorted({(node - 1) % nodes, (node + 1) % nodes})
            star = list(range(1, nodes)) if node == 0 else [0]
            near = star if label else ring
            lines.append(" ".join(map(str, [node % 3, len(near), *near])))
    (folder / f"{folder.name}.txt").write_text("\n".join(lines) + "\n")


def citations(folder):
    """Files as those of Cora: 1600 papers of seven classes, whose words and citations tell them."""
    random = numpy.random.default_rng(0)
    labels = random.integers(0, 7, 1600)
    with (folder / "cora.content").open("w") as file:
        for paper, label in enumerate(labels.tolist()):
            words_used = random.random(70) < 0.05
            words_used[10 * label : 10 * label + 4] |= random.random(4) < 0.5
            marks = "\t".join(map(str, words_used.astype(int)))
            file.write(f"{paper}\t{marks}\tclass{label}\n")
    with (folder / "cora.cites").open("w") as file:
        for paper, label in enumerate(labels.tolist()):
            alike = numpy.flatnonzero(labels == label)
            for cited in random.choice(alike, 3).tolist():
                file.write(f"{cited}\t{paper}\n")


MAKERS = {
    "digits": digits,
    "fashion": fashion,
    "cifar10": cifar10,
    "cifar100": cifar100,
    "photographs": photographs,
    "words": words,
    "tokens": tokens,
    "input": letters,
    "names": names,
    "stories": stories,
    "sentences": sentences,
    "shapes": shapes,
    "electricity": electricity,
    "short-electricity": short_electricity,
    "rates": rates,
    "ratings": ratings,
    "graphs": graphs,
    "citations": citations,
    "folder": lambda folder: None,
}


def make(checkout, places):
    """Make the data of a program: places in its checkout, and kinds."""
    for place, kind in places.items():
        (checkout / place).mkdir(parents=True, exist_ok=True)
        MAKERS[kind](checkout / place)
