"""How often sentences are rightly told to affirm the relation of two entities, beside ConText.

    python benchmarks/denials.py FILE [--wrong]

A line of FILE is a JSON object with ``sentence``, the names ``a`` and ``b`` of its two entities,
``group`` (affirmed, denied, ...) and ``entities_may_be_exchanged``: whether another entity makes
the sentence false, as it affirms the relation. Where medspaCy is installed, its ConText judges the
same sentences with its own rules: a sentence is not affirmed where it finds one of the two entities
negated, uncertain or hypothetical.
"""

import argparse
import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nlihub.builders.procedures.abstracts.mechanisms.mechanism import Mechanism
from nlihub.builders.procedures.abstracts.perturb.denials import find_denials
from nlihub.builders.procedures.abstracts.perturb.names import find_name, locate_entities

Span = tuple[int, int]
_MODIFIERS = {"NEGATED_EXISTENCE", "POSSIBLE_EXISTENCE", "HYPOTHETICAL"}


def find_spans(row: dict[str, Any]) -> tuple[Span, Span]:
    """Find the first places of both names that do not overlap."""
    ones, others = (find_name(row[name], row["sentence"]) for name in ("a", "b"))
    for one in ones:
        for other in others:
            if one.end() <= other.start() or other.end() <= one.start():
                return one.span(), other.span()
    raise ValueError(f"{row['sentence']!r} does not hold both {row['a']!r} and {row['b']!r}.")


def is_affirmed(sentence: str, spans: tuple[Span, Span]) -> bool:
    """Judge a sentence by our rules."""
    marked = sentence
    markers = (("<re>", "<er>"), ("<el>", "<le>"))
    for (start, end), (opens, closes) in sorted(zip(spans, markers, strict=True), reverse=True):
        marked = f"{marked[:start]}{opens} {marked[start:end]} {closes}{marked[end:]}"
    places = locate_entities(Mechanism.of(marked))
    return places is not None and not find_denials(places)


def make_context() -> Callable[[str, tuple[Span, Span]], bool]:
    """Return the judgement of medspaCy's ConText with the rules that it comes with."""
    import spacy
    from medspacy.context import ConText

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    context = ConText(nlp)

    def is_affirmed_by_context(sentence: str, spans: tuple[Span, Span]) -> bool:
        doc = nlp(sentence)
        doc.ents = [
            doc.char_span(start, end, label="ENTITY", alignment_mode="expand")
            for start, end in sorted(spans)
        ]
        found = context(doc).ents
        return not any(one.category in _MODIFIERS for e in found for one in e._.modifiers)

    return is_affirmed_by_context


def score(
    rows: Iterable[dict[str, Any]], judge: Callable[[str, tuple[Span, Span]], bool], *, wrong: bool
) -> Counter[str]:
    """Count by group the sentences that are judged as their gold; print the others on demand."""
    right: Counter[str] = Counter()
    for row in rows:
        if judge(row["sentence"], find_spans(row)) == row["entities_may_be_exchanged"]:
            right[row["group"]] += 1
        elif wrong:
            print(f"wrong ({row['group']}): {row['sentence']}")
    return right


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print what our rules judge wrongly")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines()]
    judges = {"ours": score(rows, is_affirmed, wrong=given.wrong)}
    if importlib.util.find_spec("medspacy"):
        judges["ConText"] = score(rows, make_context(), wrong=False)
    totals = Counter(row["group"] for row in rows)
    print(f"| group | sentences | {' | '.join(judges)} |\n|{' --- |' * (len(judges) + 2)}")
    for group, n in [*sorted(totals.items()), ("all", len(rows))]:
        shares = (
            f"{100 * (right.total() if group == 'all' else right[group]) / n:.0f} %"
            for right in judges.values()
        )
        print(f"| {group} | {n} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
