"""``python -m nlihub``."""

from .cli import main

main()
