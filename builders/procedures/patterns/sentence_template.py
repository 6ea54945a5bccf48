"""A sentence with variables: rendered from phrases, and matched back to them."""

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

_BLANKS = re.compile(" {2,}")


def _tidy(sentence: str) -> str:
    """Several blanks become one; the first letter is capitalised."""
    if "  " in sentence:  # an optional word was left out
        sentence = _BLANKS.sub(" ", sentence)
    return sentence[:1].upper() + sentence[1:]


class SentenceTemplate:
    """A sentence of a pattern.

    Args:
        sentence: The sentence, with ``{variables}``.
        variables: The variables of the pattern; a variable's axis is its position here.

    Source:
        SpaceNLI, section 3.2 and Figure 1; text rules from ``python/objects.py`` at 8c10e94d.
    """

    def __init__(self, sentence: str, variables: Sequence[str]) -> None:
        pieces = re.split(r"\{([^{}]*)\}", sentence)
        self._parts: list[str | int] = [
            variables.index(piece) if number % 2 else piece for number, piece in enumerate(pieces)
        ]
        self._axes = [part for part in self._parts if isinstance(part, int)]
        self._format = "".join(
            "%s" if isinstance(part, int) else part.replace("%", "%%") for part in self._parts
        )

    def render(self, phrases: Sequence[tuple[str, ...]]) -> list[str]:
        """The sentence for each row of phrases (one phrase for each variable of the pattern)."""
        if not self._axes:
            return [_tidy(self._format % ())] * len(phrases)
        pick = itemgetter(*self._axes)
        return [_tidy(self._format % pick(row)) for row in phrases]

    def match(
        self, sentence: str, bound: dict[int, str], phrases: Sequence[Sequence[str]]
    ) -> Iterator[dict[int, str]]:
        """The ways to read a rendered sentence as this template.

        Args:
            sentence: The sentence.
            bound: Phrases already known, by axis.
            phrases: The possible phrases of every axis.

        Yields:
            ``bound`` together with phrases for the variables of this sentence. A reading may
            still differ from the sentence in its blanks: render it to be sure.
        """

        def extend(number: int, position: int, bound: dict[int, str]) -> Iterator[dict[int, str]]:
            if number == len(self._parts):
                if position == len(sentence):
                    yield bound
                return
            part = self._parts[number]
            if isinstance(part, str):
                options: Sequence[str] = (part,)
            else:
                options = (bound[part],) if part in bound else phrases[part]
            for option in options:
                text = _BLANKS.sub(" ", option)
                if position == 0:
                    text = text[:1].upper() + text[1:]
                elif sentence[position - 1] == " ":
                    text = text.lstrip(" ")
                if sentence.startswith(text, position):
                    wider = bound if isinstance(part, str) else bound | {part: option}
                    yield from extend(number + 1, position + len(text), wider)

        return extend(0, 0, bound)
