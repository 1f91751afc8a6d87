"""Train a small language model by TRL's GRPOTrainer to name things of a topic.

Every step prints one JSON object, with what the trainer logs. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import topics
import torch
from datasets import Dataset
from transformers import LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class Printer(TrainerCallback):
    def __init__(self):
        self.records = []

    def on_log(self, args, state, control, logs, **kwargs):
        if "loss" not in logs:
            return
        record = {
            "step": state.global_step,
            "loss": float(logs["loss"]),
            "grad_norm": float(logs["grad_norm"]),
            "reward": logs["reward"],
            "truncated": logs["completions/clipped_ratio"],
            "length": logs["completions/mean_length"],
        }
        print(json.dumps(record), flush=True)
        self.records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    tokenizer = topics.make_tokenizer()
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=config["width"],
            intermediate_size=4 * config["width"],
            num_hidden_layers=config["layers"],
            num_attention_heads=4,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    printer = Printer()
    trainer = GRPOTrainer(
        model=model,
        reward_funcs=topics.share_on_topic,
        args=GRPOConfig(
            output_dir="checkpoints",
            max_steps=config["num_steps"],
            per_device_train_batch_size=config["batch_size"],
            num_generations=config["num_generations"],
            max_completion_length=config["max_completion_length"],
            mask_truncated_completions=True,
            learning_rate=config["learning_rate"],
            logging_steps=1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            bf16=False,
            gradient_checkpointing=False,
            use_cpu=device == "cpu",
            seed=config["seed"],
        ),
        train_dataset=Dataset.from_list(topics.load(config["prompts"])),
        processing_class=tokenizer,
        callbacks=[printer],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    Path(config["output"] + ".json").write_text(json.dumps(printer.records, indent=1))


if __name__ == "__main__":
    main()
