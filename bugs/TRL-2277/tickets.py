"""Made tickets of a help desk, each with the team that takes it and when, and a tokenizer for their words."""

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


class Desk:
    """Draws tickets and answers, always the same ones with a seed."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def chance(self, probability):
        return torch.rand(1, generator=self.generator).item() < probability

    def pick(self, options):
        options = list(options)
        return options[int(torch.randint(len(options), (1,), generator=self.generator))]

    def ticket(self):
        """The text, and the right answer."""
        team, time = self.pick(TEAMS), self.pick(TIMES)
        thing, word = self.pick(TEAMS[team]), self.pick(TIMES[time])
        text = f"{self.pick(OPENINGS)} {thing} {self.pick(TROUBLES)} , {word} {self.pick(CLOSINGS)} :"
        return text, f" {team} {time}"

    def other(self, answer):
        """An answer that differs from this one in the team or the time."""
        team, time = answer.split()
        if self.chance(0.5):
            team = self.pick([name for name in TEAMS if name != team])
        else:
            time = self.pick([name for name in TIMES if name != time])
        return f" {team} {time}"


def notes(count, noise, seed):
    """Tickets with the answers of a hurried help desk: a share of them is another one."""
    desk = Desk(seed)
    rows = []
    for _ in range(count):
        text, answer = desk.ticket()
        rows.append(text + (desk.other(answer) if desk.chance(noise) else answer))
    return rows


def preferences(count, noise, seed):
    """Pairs of answers, of which one is preferred: `prompt`, `chosen`, `rejected`; a share is turned round."""
    desk = Desk(seed)
    rows = []
    for _ in range(count):
        text, chosen = desk.ticket()
        rejected = desk.other(chosen)
        if desk.chance(noise):
            chosen, rejected = rejected, chosen
        rows.append({"prompt": text, "chosen": chosen, "rejected": rejected})
    return rows


def make_tokenizer():
    texts = [*OPENINGS, *TROUBLES, *CLOSINGS, ", :", *TEAMS, *TIMES]
    texts += [word for words in [*TEAMS.values(), *TIMES.values()] for word in words]
    special = ["<|pad|>", "<|unk|>", "<|end|>"]
    words = special + sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        unk_token="<|unk|>",
        eos_token="<|end|>",
        padding_side="left",
        model_input_names=["input_ids", "attention_mask"],
    )
