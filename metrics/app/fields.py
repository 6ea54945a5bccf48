"""The texts of an app's options as arguments of a metric."""

from ..inputs.problems import MetricInputError


def read_labels(text: str) -> list[str] | None:
    """The label set from a text such as ``"entailment, neutral"``; None from an empty one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names or None


def read_numbers(text: str, name: str) -> list[float]:
    """Numbers from a text such as ``"0.5, 0.95"``.

    Args:
        text: The text.
        name: Name of the option.

    Raises:
        MetricInputError: Something else is in it.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise MetricInputError([f"{name}: {text!r} is no list of numbers."]) from None


def read_level(text: str) -> float | None:
    """A confidence level; None from an empty text."""
    return read_numbers(text, "confidence_level")[0] if text.strip() else None
