"""Made pictures of one shape each, and what is to be said of them."""

import random

from PIL import Image, ImageDraw
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaTokenizerFast

SIZE = 32
COLOURS = {
    "red": (220, 40, 40),
    "green": (40, 180, 60),
    "blue": (50, 80, 220),
    "yellow": (230, 210, 50),
    "white": (240, 240, 240),
    "purple": (150, 50, 170),
}
SHAPES = ["disc", "square", "cross"]
PLACES = {"top left": (9, 9), "top right": (23, 9), "bottom left": (9, 23), "bottom right": (23, 23)}
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "[IMG]", "[IMG_BREAK]", "[IMG_END]", "[INST]", "[/INST]"]


def draw(shape, colour, place, noise):
    image = Image.new("RGB", (SIZE, SIZE), tuple(noise.randrange(20, 60) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    x, y = (centre + noise.randrange(-2, 3) for centre in PLACES[place])
    radius = noise.randrange(4, 7)
    box = (x - radius, y - radius, x + radius, y + radius)
    paint = tuple(max(0, min(255, value + noise.randrange(-15, 16))) for value in COLOURS[colour])
    if shape == "disc":
        pen.ellipse(box, fill=paint)
    elif shape == "square":
        pen.rectangle(box, fill=paint)
    else:
        pen.line((x - radius, y, x + radius, y), fill=paint, width=3)
        pen.line((x, y - radius, x, y + radius), fill=paint, width=3)
    return image


def load(count, seed):
    """Return examples with an `image`, a `prompt` and an `answer`."""
    noise = random.Random(seed)
    examples = []
    for _ in range(count):
        shape, colour, place = (noise.choice(list(kind)) for kind in (SHAPES, COLOURS, PLACES))
        examples.append(
            {
                "image": draw(shape, colour, place, noise),
                "prompt": "[INST] [IMG] what is this ? [/INST]",
                "answer": f"a {colour} {shape} , {place} </s>",
            }
        )
    return examples


def tokenizer():
    """A token for each word that occurs."""
    words = ["what", "is", "this", "?", "a", ","] + list(COLOURS) + SHAPES + ["top", "bottom", "left", "right"]
    model = models.WordLevel({word: number for number, word in enumerate(SPECIAL + words)}, unk_token="<unk>")
    words = Tokenizer(model)
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = LlamaTokenizerFast(
        tokenizer_object=words, legacy=False, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    )
    made.add_special_tokens({"additional_special_tokens": SPECIAL[4:]})
    made.padding_side = "right"
    return made
