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


def load(count, seed, teams=tuple(TEAMS), noise=0.0):
    """Pairs of a ticket of one of the teams and its answer; a share of the answers names any team."""
    generator = torch.Generator().manual_seed(seed)

    def pick(options):
        options = list(options)
        return options[int(torch.randint(len(options), (1,), generator=generator))]

    rows = []
    for _ in range(count):
        team, time = pick(teams), pick(TIMES)
        text = f"{pick(OPENINGS)} {pick(TEAMS[team])} {pick(TROUBLES)} , {pick(TIMES[time])} {pick(CLOSINGS)} :"
        if torch.rand(1, generator=generator) < noise:
            team = pick(TEAMS)
        rows.append((text, f" {team} {time}"))
    return rows


def collate(tokenizer, rows):
    """Words, their mask, and labels for the words of the answers alone; padding is on the left."""
    words = tokenizer([text + answer for text, answer in rows], padding=True, return_tensors="pt")
    labels = torch.full_like(words["input_ids"], -100)
    labels[:, -2:] = words["input_ids"][:, -2:]
    return words["input_ids"], words["attention_mask"], labels


def make_tokenizer():
    texts = [*OPENINGS, *TROUBLES, *CLOSINGS, ", :", *TEAMS, *TIMES]
    texts += [word for words in [*TEAMS.values(), *TIMES.values()] for word in words]
    special = ["<|pad|>", "<|unk|>"]
    words = special + sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|pad|>", unk_token="<|unk|>", padding_side="left"
    )
