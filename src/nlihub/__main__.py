"""The program ``nlihub``; also ``python -m nlihub``."""

import signal


def main() -> None:
    """Run the command line; the entry point of the program.

    Its imports take a while. An interrupt ends them at once: there is nothing to clear away.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .cli import main as run

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
