"""Train a small model with Pixtral's parts that says what is to be seen in a picture.

Model, processor and picture encoder are those of Transformers, with random weights and a made tokenizer. Every epoch
prints one JSON object: the loss in training, the mean over the batches, and that on other pictures. At the end all of
them go to `<output>.json`, and the weights to `<output>.pt`. The one argument, a JSON file with `parameters`, is by
default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import scenes
import torch
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlavaConfig, LlavaForConditionalGeneration, PixtralVisionConfig
from transformers.models.pixtral import PixtralImageProcessor, PixtralProcessor


class Collator:
    """Makes a batch of examples: the loss is about the answers."""

    def __init__(self, processor, device):
        self.processor, self.device = processor, device
        self.answer = processor.tokenizer.convert_tokens_to_ids("[/INST]")

    def __call__(self, examples):
        images = [[example["image"]] for example in examples]
        texts = [f"{example['prompt']} {example['answer']}" for example in examples]
        batch = self.processor(images=images, text=texts, padding=True, return_tensors="pt").to(self.device)
        labels = batch["input_ids"].clone()
        behind = (labels == self.answer).cumsum(1) - (labels == self.answer).long()
        labels[(behind == 0) | (batch["attention_mask"] == 0)] = -100
        return {**batch, "labels": labels}


def build(config, processor):
    tokenizer, width = processor.tokenizer, config["width"]
    return LlavaForConditionalGeneration(
        LlavaConfig(
            vision_config=PixtralVisionConfig(
                hidden_size=width,
                intermediate_size=2 * width,
                num_hidden_layers=1,
                num_attention_heads=2,
                image_size=scenes.SIZE,
                patch_size=processor.patch_size,
                initializer_range=0.1,
            ),
            text_config=LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=width,
                intermediate_size=2 * width,
                num_hidden_layers=2,
                num_attention_heads=2,
                max_position_embeddings=64,
                pad_token_id=tokenizer.pad_token_id,
                initializer_range=0.1,
            ),
            image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
            image_seq_length=(scenes.SIZE // processor.patch_size) ** 2,
            vision_feature_layer=-1,
            vision_feature_select_strategy="full",
        )
    )


@torch.no_grad()
def validate(model, loader):
    model.eval()
    losses = [model(**batch).loss.item() for batch in loader]
    model.train()
    return sum(losses) / len(losses)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    pictures = PixtralImageProcessor(size={"longest_edge": scenes.SIZE}, patch_size=config["patch_size"])
    processor = PixtralProcessor(pictures, scenes.tokenizer(), patch_size=config["patch_size"])
    collate = Collator(processor, device)
    training = scenes.load(config["pictures"], 2 * config["seed"])
    validation = scenes.load(config["validation_pictures"], 2 * config["seed"] + 1)
    loader = DataLoader(training, config["batch_size"], shuffle=True, collate_fn=collate)
    validation_loader = DataLoader(validation, config["batch_size"], collate_fn=collate)
    model = build(config, processor).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "validation_loss": validate(model, validation_loader),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    torch.save(model.state_dict(), config["output"] + ".pt")
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
