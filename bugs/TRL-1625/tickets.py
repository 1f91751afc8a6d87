"""Made tickets of a help desk, short ones and long ones, with answers, and a tokenizer for their words."""

import torch
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEAMS = {
    "shipping": ["parcel", "courier", "delivery", "box", "address", "customs"],
    "billing": ["invoice", "refund", "card", "charge", "receipt", "tax"],
    "accounts": ["password", "login", "email", "profile", "username", "code"],
    "repairs": ["screen", "battery", "button", "cable", "lens", "hinge"],
}
TIMES = {"today": ["urgent", "now", "immediately"], "later": ["sometime", "eventually", "whenever"]}
OPENINGS = ["hello , my", "hi , the", "sorry , my", "again the"]
TROUBLES = ["is lost", "does not work", "is late", "was changed"]
CLOSINGS = ["please help", "what can i do", "thanks"]
REMARKS = [
    "i wrote to you before .",
    "we are a small shop .",
    "nobody answers the phone .",
    "my neighbour had the same trouble .",
    "i like your service .",
    "this is the second time .",
]


class Desk:
    """Draws tickets and answers, always the same ones with a seed."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def number(self, limit):
        return int(torch.randint(limit, (1,), generator=self.generator))

    def pick(self, options):
        options = list(options)
        return options[self.number(len(options))]

    def ticket(self, most_remarks):
        """The text, which begins with some remarks or none, and the right answer."""
        team, time = self.pick(TEAMS), self.pick(TIMES)
        thing, word = self.pick(TEAMS[team]), self.pick(TIMES[time])
        remarks = [self.pick(REMARKS) for _ in range(self.number(most_remarks + 1))]
        text = f"{self.pick(OPENINGS)} {thing} {self.pick(TROUBLES)} , {word} {self.pick(CLOSINGS)} :"
        return " ".join([*remarks, text]), f" {team} {time}"

    def other(self, answer):
        """An answer that differs from this one in the team or the time."""
        team, time = answer.split()
        if self.number(2):
            team = self.pick([name for name in TEAMS if name != team])
        else:
            time = self.pick([name for name in TIMES if name != time])
        return f" {team} {time}"


def preferences(count, most_remarks, seed):
    """Pairs of answers, of which one is right: `prompt`, `chosen`, `rejected`."""
    desk = Desk(seed)
    rows = []
    for _ in range(count):
        text, answer = desk.ticket(most_remarks)
        rows.append({"prompt": text, "chosen": answer, "rejected": desk.other(answer)})
    return rows


def make_tokenizer():
    texts = [*OPENINGS, *TROUBLES, *CLOSINGS, *REMARKS, ", :", *TEAMS, *TIMES]
    texts += [word for words in [*TEAMS.values(), *TIMES.values()] for word in words]
    special = ["<|begin|>", "<|end|>", "<|unk|>"]
    words = special + sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<|begin|>",
        eos_token="<|end|>",
        pad_token="<|end|>",
        unk_token="<|unk|>",
        padding_side="right",
    )
