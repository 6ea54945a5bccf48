"""On what a model computes, and how: the same results, up to rounding, at another speed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs

from ...loaders.errors import TrainingError, UsageError

#: Of a base model a GPU trains some thousand pairs a second, and compiling takes about a minute.
_MIN_PAIRS_COMPILED = 200_000


@dataclass(frozen=True)
class Execution:
    """How to compute.

    ``accelerate launch`` decides on how many devices; started otherwise, it is one GPU if there is
    one, else the processor.

    Attributes:
        micro_batch: Pairs in memory at once in training, on each device; None is the whole batch.
        precision: ``fp32`` or ``bf16``; None takes bf16 on a GPU.
        compiled: Whether to compile the model in training; None does on a GPU, where training is
            long enough to make up for the time that compiling takes.
        reference: Whether to compute as plainly as the papers did: fp32 without TF32, 32 pairs at
            once, each padded to the longest, nothing fused or compiled.
        on_cpu: Whether to leave a GPU alone.
        num_proc: Processes that count features of texts.
        state_every_s: Seconds after which the state of training is kept, besides every epoch's end.
    """

    micro_batch: int | None = None
    precision: str | None = None
    compiled: bool | None = None
    reference: bool = False
    on_cpu: bool = False
    num_proc: int = 1
    state_every_s: float = 600

    def __post_init__(self) -> None:
        if self.precision not in (None, "fp32", "bf16"):
            raise UsageError(f"precision is {self.precision!r}; expected fp32 or bf16.")
        if self.micro_batch is not None and self.micro_batch < 1:
            raise UsageError(f"micro_batch is {self.micro_batch}; expected 1 or more.")
        if self.reference and (self.precision == "bf16" or self.compiled):
            raise UsageError("The reference computes in fp32 and compiles nothing.")

    @cached_property
    def accelerator(self) -> Accelerator:
        """What places models and batches on devices; made once."""
        unused = DistributedDataParallelKwargs(find_unused_parameters=True)
        # Of one process all accelerators have one precision, so that ours is set by ``autocast``.
        return Accelerator(cpu=self.on_cpu, mixed_precision="no", kwargs_handlers=[unused])

    def autocast(self) -> torch.autocast:
        """A context in which a model computes in the chosen precision."""
        torch.set_float32_matmul_precision("highest" if self.reference else "high")
        torch.backends.cudnn.allow_tf32 = not self.reference
        device = self.accelerator.device.type
        return torch.autocast(device, dtype=torch.bfloat16, enabled=self.is_bf16)

    @property
    def is_on_gpu(self) -> bool:
        """Whether there is a GPU to compute on."""
        return torch.cuda.is_available() and not self.on_cpu

    @property
    def is_bf16(self) -> bool:
        """Whether a model computes in bfloat16 where that is safe, not in float32."""
        if self.precision is not None:
            return self.precision == "bf16"
        return (
            self.is_on_gpu
            and not self.reference
            and torch.cuda.is_bf16_supported(including_emulation=False)
        )

    def compiles(self, n_pairs: int) -> bool:
        """Whether the model is compiled in training.

        Args:
            n_pairs: Pairs that training sees at most, in all epochs.
        """
        if self.compiled is not None:
            return self.compiled
        return self.is_on_gpu and not self.reference and n_pairs >= _MIN_PAIRS_COMPILED

    @property
    def n_at_once(self) -> int | None:
        """Pairs in memory at once in training; None is the whole batch."""
        return self.micro_batch or (32 if self.reference else None)

    @property
    def length_multiple(self) -> int:
        """Of which padded lengths are multiples, as the matrix units of a GPU like them."""
        return 16 if self.is_on_gpu and not self.reference else 1

    @property
    def max_prediction_tokens(self) -> int:
        """Tokens of a batch where nothing is learned."""
        return 131_072 if self.is_on_gpu else 8_192

    def as_json(self) -> dict[str, Any]:
        """What was chosen, for the record of a run."""
        return {
            "device": str(self.accelerator.device),
            "n_processes": self.accelerator.num_processes,
            "precision": "bf16" if self.is_bf16 else "fp32",
            "micro_batch": self.n_at_once,
            "reference": self.reference,
        }

    @contextmanager
    def out_of_memory_explained(self, n_pairs: int, kept: str) -> Iterator[None]:
        """Turns an error for want of memory in training into one that says what to try.

        Args:
            n_pairs: Pairs that were in memory at once.
            kept: What was finished and where it is, for the message.

        Raises:
            TrainingError: Memory ran out.
        """
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            advice = (
                f"try --micro-batch {max(n_pairs // 2, 1)}, which changes only rounding and dropout"
                if n_pairs > 1
                else "not even one pair fits: take a smaller model or --max-length"
            )
            raise TrainingError(
                f"Memory ran out with {n_pairs} pairs at once: {advice}. {kept}"
            ) from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error is one for want of memory, of a GPU or of the processor."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(
        sign in str(error)
        for sign in ("not enough memory", "can't allocate memory", "out of memory")
    )
