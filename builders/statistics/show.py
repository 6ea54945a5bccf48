"""A survey in Markdown."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..core.markdown import markdown_table
from ..core.spec import DatasetSpec
from ..versions.card import statistics_block
from .negatives import CategoryNegatives, Quantiles
from .parses import Parses, Roots
from .probe import MARGIN, CategoryScore, Probe
from .scoring import Score
from .survey import Survey
from .tallies import RowCount
from .texts import TextFigures
from .vocabulary import Vocabularies


def show_survey(spec: DatasetSpec, survey: Survey) -> str:
    """Show a survey: first the statistics on the card, then the papers' tables.

    Args:
        spec: The spec of the dataset.
        survey: The survey.

    Returns:
        Markdown.
    """
    sections = [statistics_block(spec, survey)]
    sections += _show_rows(survey.row_counts)
    sections += _show_texts(survey.texts)
    if survey.vocabularies:
        sections += _show_vocabularies(survey.vocabularies)
    if survey.negatives:
        sections += _show_negatives(survey.negatives)
    if survey.parses:
        sections += _show_parses(survey.parses)
    if survey.probe:
        sections += _show_probe(survey.probe)
    if survey.unmeasured:
        lines = (f"- {name}: not measured: {why}" for name, why in survey.unmeasured.items())
        sections.append("\n".join(lines))
    return "\n\n".join(sections)


def _show_rows(counts: Sequence[RowCount]) -> Iterator[str]:
    labels = list(dict.fromkeys(count.label for count in counts))
    rows = [
        [split, domain, *(_beside(f"{c.rows:,}", _other(c)) for c in cells)]
        for (split, domain), cells in groupby(counts, key=lambda count: (count.split, count.domain))
    ]
    yield "## Rows"
    yield markdown_table(["split", "domain", *labels], rows)
    if any(_other(count) for count in counts):
        yield "In brackets: what the paper counts, where it differs."
    elif any(count.published is not None for count in counts):
        yield "The paper counts the same."


def _other(count: RowCount) -> str:
    differs = count.published is not None and count.published != count.rows
    return f"{count.published:,}" if differs else ""


def _show_texts(texts: Sequence[TextFigures]) -> Iterator[str]:
    figures = ("premise_tokens", "hypothesis_tokens", "overlap")
    rows = [
        [text.part, f"{text.rows:,}"]
        + [_beside(_show(getattr(text, name)), _show(text.published.get(name))) for name in figures]
        for text in texts
    ]
    yield "## Texts"
    head = ["rows of", "rows", "tokens a premise", "tokens a hypothesis", "overlap %"]
    yield markdown_table(head, rows)
    yield (
        "Tokens are words and marks, which the papers call words. Overlap: how many of the tokens "
        "of a hypothesis its premise has too."
    )
    if any(part.published for part in texts):
        yield "In brackets: the paper's figures, of its whole release."


def _show_vocabularies(found: Vocabularies) -> Iterator[str]:
    yield "## Vocabulary of the domains"
    rows = [
        (*(f"{name} ({found.different_words[name]:,})" for name in pair.domains), n_shared, share)
        for pair in found.shared
        for n_shared, share in [(f"{pair.words:,}", pair.share)]
    ]
    yield markdown_table(["domain (words)", "domain (words)", "shared", "shared %"], rows)
    yield f"Of the {found.compared_words:,} most frequent words of each, without stop words."


def _show_negatives(negatives: Sequence[CategoryNegatives]) -> Iterator[str]:
    yield "## Negatives beside their positives"
    head = ["category", "negatives", "same as positive", "same as another", "without positive"]
    head += ["words changed", "words changed %"]
    rows = []
    for found in negatives:
        same = (f"{found.same_as_positive:,}", f"{found.same_as_another:,}")
        without = f"{found.without_positive:,} of {found.drawn:,}"
        changed = (_five(found.words), _five(found.share))
        rows.append([found.category, f"{found.rows:,}", *same, without, *changed])
    yield markdown_table(head, rows)
    yield (
        "Same: to the letter; as another: as an earlier one of its group. Words changed: words, "
        "marks and markers that have to be put in, taken out or replaced; the least, the quartiles "
        "and the greatest number of those that were drawn, and in percent of the longer of the two."
    )


def _five(quantiles: Quantiles | None) -> str:
    return " / ".join(f"{value:g}" for value in quantiles or ())


def _show_parses(parses: Parses) -> Iterator[str]:
    head = ["rows of", "S root premise %", "S root hypothesis %", "sentences", "refused texts"]
    rows = []
    for part in parses.roots:
        both = (part.premise, part.hypothesis)
        sentences = " / ".join(f"{roots.sentences:,}" for roots in both)
        refused = " / ".join(f"{roots.refused:,}" for roots in both)
        rows.append([part.part, *map(_show_roots, both), sentences, refused])
    yield "## Parses"
    yield markdown_table(head, rows)
    yield f"Of {parses.rows:,} rows. Sentences and refused texts: of premises / of hypotheses."


def _show_roots(roots: Roots) -> str:
    return _beside(_show(roots.s_roots, 1), _show(roots.published, 1))


def _show_probe(probe: Probe) -> Iterator[str]:
    yield "## What the hypothesis alone gives away"
    head = ["score", "probe", "95 % interval", "without reading"]
    scores = {"macro-F1": probe.macro_f1, "accuracy": probe.accuracy}
    yield markdown_table(head, [[name, *_show_score(score)] for name, score in scores.items()])
    trained, judged = " and ".join(probe.trained_on), " and ".join(probe.judged_on)
    if probe.folds:
        whole = f", no {probe.unit} in two folds" if probe.unit != "row" else ""
        yield f"{probe.folds}-fold cross-validation on {probe.rows:,} rows of {judged}{whole}."
    else:
        yield (
            f"Trained on {probe.training_rows:,} rows of {trained}, judged on {probe.rows:,} rows "
            f"of {judged}."
        )
        if probe.left_out:
            yield f"Not trained on: {probe.left_out:,} rows whose {probe.unit} is judged."
    if probe.warns:
        yield (
            "**Warning**: labels can in part be told from the hypothesis alone: macro-F1 is more "
            f"than {MARGIN:g} points above chance. Report a hypothesis-only model beside yours."
        )
    if probe.categories:
        yield from _show_categories(probe.categories)
    words = [[label, ", ".join(map(_code, top))] for label, top in probe.top_words.items()]
    yield markdown_table(["label", "words that speak for it"], words)


def _show_categories(categories: Sequence[CategoryScore]) -> Iterator[str]:
    shown = []
    for found in categories:
        right = found.right
        above = f"{right.above[0]:.1f} to {right.above[1]:.1f}" if right.above else ""
        figures = [f"{right.value:.1f}", f"{right.chance:.1f}", above]
        shown.append([found.category, f"{found.rows:,}", *figures])
    yield markdown_table(["category", "rows", "right %", "of others %", "difference"], shown)
    yield (
        "Of others: how often the same is guessed, wrongly, of rows of other labels. Difference: "
        "its 95 % interval."
    )
    if told := [c.category for c in categories if c.warns]:
        yield (
            "**Warning**: the hypothesis alone gives these categories away, by more than "
            f"{MARGIN:g} points: {', '.join(told)}."
        )


def _show_score(score: Score) -> list[str]:
    interval = "-".join(f"{end:.1f}" for end in score.interval) if score.interval else ""
    return [f"{score.value:.1f}", interval, f"{score.chance:.1f}"]


def _code(text: str) -> str:
    """Write a text as code."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _show(figure: float | None, n_digits: int = 2) -> str:
    return "" if figure is None else f"{figure:.{n_digits}f}"


def _beside(ours: str, theirs: str) -> str:
    return f"{ours} ({theirs})".lstrip() if theirs else ours
