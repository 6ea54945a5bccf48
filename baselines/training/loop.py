"""The training loop, from the first batch to the best epoch."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from accelerate.utils import gather_object

from ...loaders.errors import TrainingError
from ...metrics.functional import nli_report
from ..runs.config import Options
from ..runs.folder import RunFolder
from .batches import training_batches
from .encoded import EncodedRows
from .execution import Execution
from .predict import predict
from .state import State
from .trainable import Trainable

#: Steps after which the loss is looked at where that would stop a GPU.
_CHECK_EVERY = 50

#: Steps after which several processes agree whether to keep the state.
_AGREE_EVERY = 10


@dataclass(frozen=True)
class Fitted:
    """How training went.

    Attributes:
        best_epoch: The epoch whose weights the checkpoint has, from 1.
        n_epochs: Epochs that were trained.
        seconds: Time spent on training steps.
        pairs_per_s: Training pairs a second, padding and evaluation aside.
        dynamics: Epochs x n, the gold label's probability as each row was trained on.
    """

    best_epoch: int
    n_epochs: int
    seconds: float
    pairs_per_s: float
    dynamics: np.ndarray


def fit(
    trainable: Trainable,
    train: EncodedRows,
    validation: EncodedRows | None,
    options: Options,
    folder: RunFolder,
    *,
    seed: int,
    execution: Execution,
    tell: Callable[[str], None] = lambda _: None,
) -> Fitted:
    """Trains a model, and keeps that of the best epoch in the run's checkpoint.

    Whatever is drawn at a step follows from the seed, the epoch and the number of the step, so that
    training that was killed goes on from the last state that was kept, and comes to the result that
    it would have had. A batch is shared out between the devices; their number and the micro-batch
    change nothing but rounding and dropout.

    Args:
        trainable: The model.
        train: n rows.
        validation: On what epochs are compared, by macro-F1; None takes the last epoch.
        options: Hyper-parameters.
        folder: The run's folder.
        seed: Of the order of rows and of dropout.
        execution: How to compute.
        tell: Is told of every epoch, in words.

    Returns:
        How it went; the model has the weights of the best epoch.

    Raises:
        TrainingError: The loss is no number, or memory ran out. The last state and the best
            checkpoint are kept.
        UsageError: The state that was kept is damaged.

    Source: SciNLI, section 4.3, and MSciNLI, section 4.2: early stopping on validation macro-F1.
    """
    loop = _Loop(trainable, train, validation, options, folder, seed, execution, tell)
    loop.run()
    return loop.result()


class _Loop:
    def __init__(
        self,
        trainable: Trainable,
        train: EncodedRows,
        validation: EncodedRows | None,
        options: Options,
        folder: RunFolder,
        seed: int,
        execution: Execution,
        tell: Callable[[str], None],
    ) -> None:
        self.trainable, self.train, self.validation = trainable, train, validation
        self.options, self.folder, self.seed = options, folder, seed
        self.execution, self.tell = execution, tell
        self.accelerator = execution.accelerator
        self.n_steps = -(-len(train) // options.batch_size)
        trainable.model.to(self.accelerator.device)
        self.parameters = [p for p in trainable.model.parameters() if p.requires_grad]
        self.optimizer = self._optimizer()
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self._rate)
        self.state, tensors = State.load(folder.path)
        if tensors is not None:
            trainable.model.load_state_dict(tensors["model"])
            self.optimizer.load_state_dict(tensors["optimizer"])
            self.schedule.load_state_dict(tensors["schedule"])
        self.model = self.accelerator.prepare_model(trainable.model)
        if execution.compiles:
            self.model = torch.compile(self.model, dynamic=True)
        if self.is_main:
            folder.shorten_log(self.state.log_size)
            self._save_best()  # should a kill have come between the state and the checkpoint

    @property
    def is_main(self) -> bool:
        return bool(self.accelerator.is_main_process)

    def _optimizer(self) -> torch.optim.Optimizer:
        options = self.options
        rate, fused = options.learning_rate, not self.execution.reference
        if options.optimizer == "adam":
            return torch.optim.Adam(self.parameters, lr=rate, fused=fused)
        decay = options.weight_decay
        return torch.optim.AdamW(self.parameters, lr=rate, weight_decay=decay, fused=fused)

    def _rate(self, step: int) -> float:
        """The share of the learning rate at a step, from 0."""
        warmup, total = self.options.warmup_steps, self.n_steps * self.options.max_epochs
        if step < warmup:
            return step / warmup
        if self.options.schedule == "constant":
            return 1.0
        return max(total - step, 0) / max(total - warmup, 1)

    def run(self) -> None:
        while not self.state.is_over:
            self._epoch()

    def result(self) -> Fitted:
        state = self.state
        self.trainable.load(self.folder.checkpoint)
        self.trainable.model.to(self.accelerator.device).eval()
        return Fitted(
            state.best_epoch,
            len(state.dynamics),
            state.seconds,
            state.n_pairs / state.seconds if state.seconds else 0.0,
            np.stack([epoch.numpy() for epoch in state.dynamics]),
        )

    def _epoch(self) -> None:
        state, began = self.state, time.monotonic()
        if state.step == 0:
            state.dynamics.append(torch.full((len(self.train),), float("nan")))
        batches = training_batches(
            self.train.lengths,
            self.options.batch_size,
            self.seed,
            state.epoch,
            by_length=not self.execution.reference,
        )
        self.trainable.model.train()
        self.model.train()
        kept_at = time.monotonic()
        total = torch.zeros((), device=self.accelerator.device)
        gold: list[tuple[np.ndarray, torch.Tensor]] = []
        for step in range(state.step, self.n_steps):
            total += self._step(step, batches[step], gold)
            on_cpu = self.accelerator.device.type == "cpu"
            is_last = step + 1 == self.n_steps
            is_due = time.monotonic() - kept_at > self.execution.state_every_s
            if self._main_says(is_due, step):
                self._settle(total, gold, step, kept_at)
                self._keep()
                kept_at = time.monotonic()
            elif on_cpu or is_last or (step + 1) % _CHECK_EVERY == 0:
                self._check_loss(total, step)
        self._settle(total, gold, self.n_steps - 1, kept_at)
        self._end_epoch(time.monotonic() - began)

    def _main_says(self, here: bool, step: int) -> bool:
        """Whether it is so in the main process, whose word goes for all, now and then."""
        if self.accelerator.num_processes == 1:
            return here
        if (step + 1) % _AGREE_EVERY:
            return False
        word = torch.tensor(float(here and self.is_main), device=self.accelerator.device)
        return bool(self.accelerator.reduce(word).item())

    def _step(
        self, step: int, rows: np.ndarray, gold: list[tuple[np.ndarray, torch.Tensor]]
    ) -> torch.Tensor:
        """One step of the optimizer; returns the sum of the rows' losses on this device."""
        world, rank = self.accelerator.num_processes, self.accelerator.process_index
        draws = np.random.SeedSequence([self.seed, self.state.epoch, step, rank])
        torch.manual_seed(int(draws.generate_state(1, np.uint64)[0]))
        mine, weight = rows[rank::world], world / len(rows)
        if not len(mine):  # every device has to take part: it does the first row for nothing
            mine, weight = rows[:1], 0.0
        size = self.execution.n_at_once or len(mine)
        parts = [mine[start : start + size] for start in range(0, len(mine), size)]
        total = torch.zeros((), device=self.accelerator.device)
        kept = f"What was finished is kept in {self.folder.path}; run it again to go on."
        with self.execution.out_of_memory_explained(len(parts[0]), kept):
            for part in parts[:-1]:
                with self.accelerator.no_sync(self.model):
                    total += self._learn(part, weight, gold)
            total += self._learn(parts[-1], weight, gold)
            if self.options.max_grad_norm is not None:
                torch.nn.utils.clip_grad_norm_(self.parameters, self.options.max_grad_norm)
            self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def _learn(
        self, rows: np.ndarray, weight: float, gold: list[tuple[np.ndarray, torch.Tensor]]
    ) -> torch.Tensor:
        device = self.accelerator.device
        execution = self.execution
        length = int(self.train.lengths.max()) if execution.reference else None
        inputs = self.train.batch(rows, multiple=execution.length_multiple, length=length)
        inputs["labels_"] = torch.from_numpy(self.train.labels[rows].astype(np.int64))
        if device.type == "cuda":
            inputs = {name: value.pin_memory() for name, value in inputs.items()}
        inputs = {name: value.to(device, non_blocking=True) for name, value in inputs.items()}
        labels = inputs.pop("labels_")
        with execution.autocast():
            logits = self.model(**inputs).float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        self.accelerator.backward(loss * weight)
        if weight:
            of_gold = torch.softmax(logits.detach(), dim=1).gather(1, labels[:, None])[:, 0]
            gold.append((rows, of_gold))
        return loss.detach() * bool(weight)

    def _check_loss(self, total: torch.Tensor, step: int, *, weights: bool = False) -> None:
        is_sound = bool(torch.isfinite(total))
        if weights:  # what the last step made of them is in no loss yet
            is_sound &= all(bool(torch.isfinite(value).all()) for value in self.parameters)
        if not is_sound:
            since = max(step + 1 - _CHECK_EVERY, 0)
            raise TrainingError(
                f"The loss is no number in epoch {self.state.epoch}, between steps {since} and "
                f"{step + 1} of {self.n_steps}. A lower --learning-rate may help, or --precision "
                "fp32, either with another folder; what was finished before is kept in "
                f"{self.folder.path}."
            )

    def _settle(
        self,
        total: torch.Tensor,
        gold: list[tuple[np.ndarray, torch.Tensor]],
        step: int,
        since: float,
    ) -> None:
        """Takes what was summed up since the last time into the state."""
        self._check_loss(total, step, weights=True)
        state = self.state
        found = [(rows, values.float().cpu()) for rows, values in gold]
        sums = [float(total)]
        if self.accelerator.num_processes > 1:
            found, sums = gather_object(found), gather_object(sums)
        for rows, values in found:
            state.dynamics[-1][torch.from_numpy(rows)] = values
            state.n_pairs += len(rows)
        state.loss += sum(sums)
        state.seconds += time.monotonic() - since
        state.step = step + 1
        total.zero_()
        gold.clear()

    def _end_epoch(self, seconds: float) -> None:
        state, options = self.state, self.options
        scores = self._validate()
        is_best = scores is None or scores["macro_f1"] > state.best_score
        if is_best:
            state.best_epoch, state.n_without_gain = state.epoch, 0
            state.best_score = scores["macro_f1"] if scores else -1.0
        else:
            state.n_without_gain += 1
        is_last = state.epoch == options.max_epochs
        state.is_over = is_last or (
            options.patience is not None and state.n_without_gain >= options.patience
        )
        loss = state.loss / len(self.train)
        entry = {
            "kind": "epoch",
            "epoch": state.epoch,
            "loss": loss,
            "validation": scores,
            "is_best": is_best,
            "seconds": round(seconds, 3),
        }
        if self.is_main:
            self.folder.log(entry)
        shown = f", validation macro-F1 {scores['macro_f1']:.4f}" if scores else ""
        self.tell(f"epoch {state.epoch}: loss {loss:.4f}{shown} ({seconds:.0f} s)")
        state.epoch, state.step, state.loss = state.epoch + 1, 0, 0.0
        self._keep()
        if self.is_main:
            self._save_best()
        self.accelerator.wait_for_everyone()

    def _validate(self) -> dict[str, float] | None:
        if self.validation is None:
            return None
        model = self.trainable.model.eval()
        labels = self.trainable.labels
        found = predict(model, self.validation, len(labels), self.execution)
        report = nli_report(
            predictions=found.argmax(axis=1), references=self.validation.labels, labels=labels
        )
        return {name: report[name] for name in ("macro_f1", "accuracy")}

    def _save_best(self) -> None:
        """Saves the model where the epoch that just ended is the best; without validation, once."""
        state = self.state
        is_best = state.step == 0 and 0 < state.best_epoch == state.epoch - 1
        if is_best and (self.validation is not None or state.is_over):
            self.folder.save_checkpoint(self.trainable.save)

    def _keep(self) -> None:
        if not self.is_main:
            return
        self.state.log_size = self.folder.log_size
        tensors: dict[str, Any] = {
            "model": self.trainable.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
        }
        self.state.save(self.folder.path, tensors)
