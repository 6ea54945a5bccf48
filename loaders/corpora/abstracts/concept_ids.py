"""The ids of concepts, as annotations of entities write them."""

import re

#: Placeholders for a missing id.
_NO_IDS = frozenset({"", "-", "-1", "None"})
#: Between several ids: "D007674|D008107", "5290;5291", "1,2", "D003693+D002955"; not in
#: "factor, beta" or "cd4+".
_BETWEEN = re.compile(r"[|;]|,(?! )|(?<=\w)\+(?=\w)")


def split_ids(written: str) -> tuple[str, ...]:
    """Split the ids of a mention.

    Args:
        written: The id or ids as a file has them.

    Returns:
        The whole as written and, where it lists several ids, each of them; empty where unknown.

    Example:
        >>> split_ids("5290;5291"), split_ids("-")
        (('5290;5291', '5290', '5291'), ())
    """
    parts = [part.strip() for part in (written, *_BETWEEN.split(written))]
    return tuple(dict.fromkeys(part for part in parts if part not in _NO_IDS))
