import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

VOCAB, PROMPT, GEN = 24, 4, 16


class LanguageModel(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, ids, state=None):
        out, state = self.rnn(self.embed(ids), state)
        return self.head(out), state

    @torch.no_grad()
    def generate(self, prompts, length):
        self.eval()
        seqs, state, step = prompts, None, prompts
        for _ in range(length):
            logits, state = self(step, state)
            step = torch.multinomial(logits[:, -1].softmax(-1), 1)
            seqs = torch.cat([seqs, step], 1)
        return seqs


def cosine_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def factor(step):
        if step < num_warmup_steps:
            return (step + 1) / (num_warmup_steps + 1)
        progress = min(1.0, (step - num_warmup_steps) / max(1, num_training_steps - num_warmup_steps))
        return 0.5 * (1.0 + math.cos(math.pi * progress))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def sample_corpus(table, n, length):
    seqs = torch.randint(VOCAB, (n, 2))
    for _ in range(length - 2):
        seqs = torch.cat([seqs, torch.multinomial(table[seqs[:, -2], seqs[:, -1]], 1)], 1)
    return seqs


def pretrain_teacher(teacher, corpus, epochs=6):
    opt = torch.optim.AdamW(teacher.parameters(), lr=5e-3)
    for _ in range(epochs):
        teacher.train()
        for (ids,) in DataLoader(TensorDataset(corpus), batch_size=64, shuffle=True):
            logits, _ = teacher(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"teacher loss {loss.item():.4f}")


class OnPolicyKDTrainer:
    def __init__(self, student, teacher, prompt_loader, cfg):
        self.student, self.teacher, self.cfg = student, teacher.eval(), cfg
        self.prompt_loader = prompt_loader
        self.optimizer = torch.optim.AdamW(student.parameters(), lr=cfg["learning_rate"])
        num_rollouts = cfg["num_epochs"] * len(prompt_loader)
        max_steps = num_rollouts * (cfg["rollout_batch_size"] // cfg["train_batch_size"])
        self.scheduler = cosine_with_warmup(self.optimizer, int(cfg["warmup_ratio"] * max_steps), max_steps)

    def kd_loss(self, ids):
        s_logits, _ = self.student(ids[:, :-1])
        with torch.no_grad():
            t_logits, _ = self.teacher(ids[:, :-1])
        s_logp, t_logp = (z[:, PROMPT - 1:].log_softmax(-1) for z in (s_logits, t_logits))
        return (s_logp.exp() * (s_logp - t_logp)).sum(-1).mean()

    def fit(self):
        step = 0
        for epoch in range(self.cfg["num_epochs"]):
            for (prompts,) in self.prompt_loader:
                rollouts = self.student.generate(prompts, GEN)
                self.student.train()
                for micro in rollouts.split(self.cfg["train_batch_size"]):
                    loss = self.kd_loss(micro)
                    self.optimizer.zero_grad()
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
                    self.optimizer.step()
                    self.scheduler.step()
                    step += 1
            print(f"epoch {epoch} step {step} kd_loss {loss.item():.4f} lr {self.scheduler.get_last_lr()[0]:.2e}")


@torch.no_grad()
def evaluate_kl(student, teacher, prompts):
    ids = student.generate(prompts, GEN)
    s_logp, t_logp = (m(ids[:, :-1])[0][:, PROMPT - 1:].log_softmax(-1) for m in (student, teacher))
    return (s_logp.exp() * (s_logp - t_logp)).sum(-1).mean().item()


def main():
    torch.manual_seed(int(sys.argv[1]))
    table = torch.softmax(2.0 * torch.randn(VOCAB, 1, VOCAB) + 1.0 * torch.randn(VOCAB, VOCAB, VOCAB), -1)
    teacher = LanguageModel(96)
    pretrain_teacher(teacher, sample_corpus(table, 1500, PROMPT + GEN))
    cfg = {"num_epochs": 4, "rollout_batch_size": 128, "train_batch_size": 16, "learning_rate": 5e-3, "warmup_ratio": 0.05}
    prompts = sample_corpus(table, 640, PROMPT)
    loader = DataLoader(TensorDataset(prompts), batch_size=cfg["rollout_batch_size"], shuffle=True)
    student = LanguageModel(48)
    trainer = OnPolicyKDTrainer(student, teacher, loader, cfg)
    trainer.fit()
    kl = evaluate_kl(student, teacher, sample_corpus(table, 512, PROMPT))
    print(f"RESULT eval_kl={kl:.4f} last_lr={trainer.scheduler.get_last_lr()[0]:.2e}")


if __name__ == "__main__":
    main()
