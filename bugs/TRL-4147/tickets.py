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

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def load(count, seed):
    """Conversations: `prompt`, the ticket, and `completion`, where it goes. A ticket may name things of two teams."""
    generator = torch.Generator().manual_seed(seed)

    def pick(options):
        options = list(options)
        return options[int(torch.randint(len(options), (1,), generator=generator))]

    rows = []
    for _ in range(count):
        team, time = pick(TEAMS), pick(TIMES)
        things = [pick(TEAMS[team])]
        if torch.rand(1, generator=generator) < 0.3:
            things.append(pick(TEAMS[pick(TEAMS)]))
        if torch.rand(1, generator=generator) < 0.5:
            things.reverse()
        text = f"{pick(OPENINGS)} {' and '.join(things)} {pick(TROUBLES)} , {pick(TIMES[time])} {pick(CLOSINGS)}"
        rows.append(
            {
                "prompt": [{"role": "user", "content": text}],
                "completion": [{"role": "assistant", "content": f"{team} {time}"}],
            }
        )
    return rows


def make_tokenizer():
    texts = [*OPENINGS, *TROUBLES, *CLOSINGS, "and , user assistant", *TEAMS, *TIMES]
    texts += [word for words in [*TEAMS.values(), *TIMES.values()] for word in words]
    special = ["<|pad|>", "<|unk|>", "<|im_start|>", "<|im_end|>", "\n"]
    words = special + sorted({word for text in texts for word in text.split()})
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        unk_token="<|unk|>",
        eos_token="<|im_end|>",
        chat_template=TEMPLATE,
        padding_side="right",
    )
