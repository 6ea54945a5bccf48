"""How fast constrained decoding is, beside the plain beam search of transformers at one beam.

    python benchmarks/decoding.py [--size small] [--beam 50] [--inputs 8] [--batch-size 4]
        [--source-tokens 300] [--new-tokens 60] [--precision fp32] [--rounds 3]

Weights and tokens are random: neither changes the speed. Both write as many tokens for every input,
ours under two phrases of eight tokens each, as long as a marked name. The two take turns in every
round; medians of the rounds, in inputs a second.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers
from nlihub.builders.procedures.abstracts.generate.generate import GenerationSettings
from nlihub.builders.procedures.abstracts.generate.neurologic import (
    Constraints,
    Phrase,
    Seq2SeqScorer,
    decode,
)

#: Those of the models of the same names, but for the vocabulary of tiny.
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"d_model": 64, "d_kv": 16, "d_ff": 256, "num_layers": 2, "num_heads": 4,
             "vocab_size": 2_000},
    "small": {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8,
              "vocab_size": 32_128},
    "base": {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12,
             "vocab_size": 32_128},
    "large": {"d_model": 1024, "d_kv": 64, "d_ff": 4096, "num_layers": 24, "num_heads": 16,
              "vocab_size": 32_128},
}  # fmt: skip
PADDING, END = 0, 1
LITERAL_TOKENS = 8


def make_model(size: str, device: str, precision: str) -> Any:
    """A T5 of a size, with random weights."""
    torch.manual_seed(0)
    options: dict[str, Any] = {"decoder_start_token_id": PADDING, **SIZES[size]}
    model: Any = transformers.T5ForConditionalGeneration(transformers.T5Config(**options))
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    return model.to(device=device, dtype=dtype).eval()


def draw_tokens(n_rows: int, length: int, n_tokens: int, seed: int) -> torch.Tensor:
    """Rows of random tokens, none of them special."""
    draws = torch.Generator().manual_seed(seed)
    return torch.randint(10, n_tokens, (n_rows, length), generator=draws)


def write_constrained(model: Any, rows: torch.Tensor, given: argparse.Namespace) -> None:
    """Decodes under constraints."""
    settings = GenerationSettings(
        beam_size=given.beam, prune_factor=given.prune_factor, ngram_size=given.ngram_size,
        min_tokens=given.new_tokens - 1, max_tokens=given.new_tokens, allocates=given.allocates,
    )  # fmt: skip
    for start in range(0, len(rows), given.batch_size):
        batch = rows[start : start + given.batch_size]
        names = draw_tokens(2 * len(batch), LITERAL_TOKENS, model.config.vocab_size, start + 1)
        phrases = [Phrase((tuple(name.tolist()),)) for name in names]
        constraints = [Constraints(phrases[2 * i : 2 * i + 2]) for i in range(len(batch))]
        scorer = Seq2SeqScorer(model, batch.tolist(), PADDING)
        decode(scorer, constraints, settings, end=END, suppressed=[PADDING])


def write_plain(model: Any, rows: torch.Tensor, given: argparse.Namespace) -> None:
    """Beam search of transformers, to the same number of tokens."""
    config = transformers.GenerationConfig(
        num_beams=given.beam, do_sample=False, length_penalty=0.1, early_stopping=False,
        no_repeat_ngram_size=given.ngram_size, min_new_tokens=given.new_tokens,
        max_new_tokens=given.new_tokens, pad_token_id=PADDING, eos_token_id=END,
        decoder_start_token_id=PADDING,
    )  # fmt: skip
    for start in range(0, len(rows), given.batch_size):
        batch = rows[start : start + given.batch_size].to(model.device)
        model.generate(batch, attention_mask=torch.ones_like(batch), generation_config=config)


def measure(work: Callable[[], None]) -> float:
    """Seconds, the device's work included."""
    began = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - began


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--beam", type=int, default=50)
    parser.add_argument("--prune-factor", type=int, default=50)
    parser.add_argument("--ngram-size", type=int, default=10)
    parser.add_argument("--allocates", action="store_true")
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--source-tokens", type=int, default=300)
    parser.add_argument("--new-tokens", type=int, default=60)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    model = make_model(given.size, given.device, given.precision)
    rows = draw_tokens(given.inputs, given.source_tokens, model.config.vocab_size, 0)
    for warm_up in (write_constrained, write_plain):
        warm_up(model, rows[: given.batch_size], given)
    seconds: dict[str, list[float]] = {"constrained": [], "plain": []}
    for _ in range(given.rounds):
        seconds["constrained"].append(measure(lambda: write_constrained(model, rows, given)))
        seconds["plain"].append(measure(lambda: write_plain(model, rows, given)))
    rates = {name: given.inputs / statistics.median(took) for name, took in seconds.items()}
    on_gpu = given.device.startswith("cuda")
    shown = {
        **vars(given),
        "device": torch.cuda.get_device_name() if on_gpu else "processor",
        "n_threads": torch.get_num_threads(),
        "n_parameters": sum(value.numel() for value in model.parameters()),
        "inputs_per_s": rates,
        "ratio": rates["constrained"] / rates["plain"],
    }
    print(json.dumps(shown, indent=2))


if __name__ == "__main__":
    main()
