"""Words of four topics, prompts that ask for one of them, a reward, and a tokenizer."""

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TOPICS = {
    "fruits": ["apple", "pear", "plum", "fig", "cherry", "lemon", "grape", "peach"],
    "animals": ["otter", "heron", "badger", "newt", "lynx", "hare", "vole", "stoat"],
    "tools": ["hammer", "saw", "file", "drill", "chisel", "pliers", "wrench", "level"],
    "rivers": ["rhine", "loire", "tiber", "oder", "ebro", "thames", "volga", "weser"],
}
FORMS = ["some {topic} :", "name {topic} , please :", "which {topic} do you know ?"]


def load(count):
    """Rows with a `prompt` and the `topic` that it asks for."""
    names = list(TOPICS)
    rows = []
    for number in range(count):
        topic = names[number % len(names)]
        form = FORMS[number // len(names) % len(FORMS)]
        rows.append({"prompt": form.format(topic=topic), "topic": topic})
    return rows


def share_on_topic(completions, topic, **kwargs):
    """The share of a completion's words that belong to the topic."""
    rewards = []
    for completion, wanted in zip(completions, topic, strict=True):
        words = completion.split()
        rewards.append(sum(word in TOPICS[wanted] for word in words) / max(len(words), 1))
    return rewards


def make_tokenizer():
    texts = [*TOPICS, *(form.replace("{topic}", "") for form in FORMS), *(" ".join(words) for words in TOPICS.values())]
    special = ["<pad>", "<unk>", "<end>"]
    words = special + sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="<end>", padding_side="left"
    )
