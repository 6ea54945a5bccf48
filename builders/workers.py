"""Runs a job in several processes: in order, in bounded memory, and ended with their parent."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import parent_process
from types import FrameType
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_job: Callable[[Any], Any] | None = None  # of this process, where it is a worker


def map_in_order(
    job: Callable[[Item], Result], items: Sequence[Item], num_proc: int
) -> Generator[Result, None, None]:
    """Maps a job over items, at most a few items ahead of the reader.

    Close the generator when its results are no longer wanted, so that the workers stop.

    Args:
        job: What to do with an item; it is handed to each worker once.
        items: The items.
        num_proc: Processes to use, at most one a core; 1 works in this process.

    Yields:
        The results, in the order of the items.
    """
    n_workers = min(num_proc, len(items), os.cpu_count() or 1)
    if n_workers <= 1:
        yield from map(job, items)
        return
    pool = ProcessPoolExecutor(n_workers, initializer=_start, initargs=(job,))
    with _signals_noted() as noted:
        try:
            with _signals_held():  # forked workers start in here, and never get them
                pool.submit(int).result()
            pending: deque[Future[Result]] = deque()
            for item in items:
                pending.append(pool.submit(_run, item))
                if len(pending) >= 4 * n_workers:
                    yield _next(pending, noted)
            while pending:
                yield _next(pending, noted)
        finally:
            pool.shutdown(cancel_futures=True)


def _next(pending: deque[Future[Result]], noted: list[int]) -> Result:
    result = pending.popleft().result()
    if noted:
        signal.raise_signal(noted.pop())
    return result


@contextmanager
def _signals_noted() -> Iterator[list[int]]:
    """Notes the signals that end a run while it goes on.

    What a handler raises gets lost where Python calls it in the middle of a finalizer or behind a
    fork; then it is to be raised again.
    """
    noted: list[int] = []
    handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
    if threading.current_thread() is threading.main_thread():  # no other may set handlers
        for ending in (signal.SIGINT, signal.SIGTERM):
            if callable(handler := signal.getsignal(ending)):
                handlers[ending] = handler

    def note(number: int, frame: FrameType | None) -> None:
        try:
            handlers[number](number, frame)
        except BaseException:
            noted.append(number)
            raise

    for number in handlers:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in handlers.items():
            if signal.getsignal(number) is note:
                signal.signal(number, handler)


@contextmanager
def _signals_held() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(job: Callable[[Any], Any]) -> None:
    """Gives a worker its job, once, and its life its end.

    Signals are left to the parent: a worker that died while it hands over a result would leave
    the parent waiting for the rest. And a worker ends when its parent was killed.
    """
    global _job
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _run(item: Any) -> Any:
    if _job is None:
        raise RuntimeError("this process is no worker")
    return _job(item)
