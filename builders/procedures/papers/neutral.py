"""Neutral pairs: random sentences of one paper, in SciNLI's three ways.

Source:
    SciNLI, section 3.2.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Flags, Numbers, Words
from .draws import draw, subkeys
from .phrases import APPROACHES

_MAX_DRAWS = 64


@dataclass(frozen=True)
class NeutralPairs:
    """Neutral pairs, one for each labelled pair.

    Attributes:
        approach: n numbers of ``APPROACHES``.
        first: n sentences.
        second: n sentences.
        is_found: n booleans, whether random sentences were found.
    """

    approach: Numbers
    first: Numbers
    second: Numbers
    is_found: Flags


def draw_neutral_pairs(
    linking: Numbers,
    paper: Numbers,
    starts: Numbers,
    is_linking: Flags,
    paper_keys: Words,
) -> NeutralPairs:
    """Draw a neutral pair for each labelled one, from the same paper.

    Args:
        linking: n sentences, the second ones of the labelled pairs.
        paper: n numbers of papers.
        starts: The first sentence of each paper, and the end of the last.
        is_linking: For each sentence whether it opens with a linking phrase.
        paper_keys: The keys of the papers.
    """
    start = starts[paper]
    size = (starts[paper + 1] - start).astype(np.uint64)
    keys = subkeys(paper_keys[paper], linking - start)
    approach = (draw(keys, 0) % np.uint64(len(APPROACHES))).astype(np.int64)
    first, second = linking - 1, linking.copy()
    random_first, random_second = approach != 2, approach != 1
    waiting = np.arange(len(linking))
    for attempt in range(_MAX_DRAWS):
        for side, is_random, number in (
            (first, random_first, 1),
            (second, random_second, 2),
        ):
            drawn = draw(keys[waiting], 2 * attempt + number) % size[waiting]
            side[waiting] = np.where(
                is_random[waiting], start[waiting] + drawn.astype(np.int64), side[waiting]
            )
        one, other = first[waiting], second[waiting]
        is_good = (
            (np.abs(one - other) > 1)
            & ~(random_first[waiting] & is_linking[one])
            & ~(random_second[waiting] & is_linking[other])
        )
        waiting = waiting[~is_good]
        if not len(waiting):
            break
    is_found = np.ones(len(linking), bool)
    is_found[waiting] = False
    return NeutralPairs(approach, first, second, is_found)
