"""Adapt a small BART, which can judge reviews of restaurants, to reviews of hotels by AdaLoRA.

The first JSON object says what the model is worth on hotels, as it is and with its new adapters; every epoch prints
another. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import reviews
import torch
from peft import AdaLoraConfig, TaskType, get_peft_model
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset
from transformers import BartConfig, BartForConditionalGeneration, get_linear_schedule_with_warmup


def small_bart(width, layers):
    config = BartConfig(
        vocab_size=len(reviews.WORDS),
        max_position_embeddings=reviews.LENGTH,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        pad_token_id=reviews.PAD,
        bos_token_id=reviews.BEGIN,
        eos_token_id=reviews.END,
        decoder_start_token_id=reviews.END,
        forced_eos_token_id=reviews.END,
    )
    return BartForConditionalGeneration(config)


def pretrain(model, data, config):
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    loader = DataLoader(TensorDataset(*data), batch_size=config["batch_size"], shuffle=True)
    model.train()
    for _ in range(config["pretraining_epochs"]):
        for words, mask, labels in loader:
            model(input_ids=words, attention_mask=mask, labels=labels).loss.backward()
            optimizer.step()
            optimizer.zero_grad()


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    words, mask, labels = data
    logits = model(input_ids=words, attention_mask=mask, labels=labels).logits
    loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()
    return loss, (logits[:, 0].argmax(-1) == labels[:, 0]).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    seed = 10 * config["seed"]
    restaurants, train, validation = (
        tuple(part.to(device) for part in reviews.load(place, config[count], seed + offset))
        for offset, (place, count) in enumerate(
            [("restaurant", "restaurants"), ("hotel", "hotels"), ("hotel", "validation_hotels")]
        )
    )
    model = small_bart(config["width"], config["layers"]).to(device)
    pretrain(model, restaurants, config)
    base_loss, base_accuracy = evaluate(model, validation)

    loader = DataLoader(TensorDataset(*train), batch_size=config["batch_size"], shuffle=True)
    steps = config["num_epoch"] * len(loader)
    model = get_peft_model(
        model,
        AdaLoraConfig(
            init_r=12,
            target_r=8,
            beta1=0.85,
            beta2=0.85,
            tinit=config["tinit"],
            tfinal=config["tfinal"],
            deltaT=10,
            lora_alpha=32,
            lora_dropout=0.1,
            total_step=steps,
            task_type=TaskType.SEQ_2_SEQ_LM,
        ),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=steps)
    loss, accuracy = evaluate(model, validation)
    record = {"epoch": 0, "validation_loss": loss, "validation_accuracy": accuracy}
    record.update(base_loss=base_loss, base_accuracy=base_accuracy)
    print(json.dumps(record), flush=True)
    records = [record]
    step = 0
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        total = 0.0
        for words, mask, labels in loader:
            loss = model(input_ids=words, attention_mask=mask, labels=labels).loss
            loss.backward()
            optimizer.step()
            scheduler.step()
            model.base_model.update_and_allocate(step)
            optimizer.zero_grad()
            step += 1
            total += loss.item() / len(loader)
        loss, accuracy = evaluate(model, validation)
        record = {"epoch": epoch, "loss": total, "validation_loss": loss, "validation_accuracy": accuracy}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
