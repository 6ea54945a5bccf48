"""The metrics as plain functions, for hot loops: the same arguments, the same results."""

from .pattern_accuracy.scoring import pattern_accuracy

__all__ = ["pattern_accuracy"]
