"""All that ``nlihub stats`` measures, the card's statistics and the papers' tables, in Markdown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from ...loaders.errors import MissingExtraError, UnmeasuredError
from ..core.markdown import markdown_table
from ..core.spec import DatasetSpec
from ..versions.card import statistics_block
from ..versions.card_statistics import Statistics, measure_statistics
from ..versions.row_tables import open_rows
from ..versions.version import BuiltVersion
from .counts import ValueCount, count_values
from .negatives import (
    CategoryNegatives,
    PossibleNegatives,
    Quantiles,
    count_possible_negatives,
    describe_negatives,
)
from .parses import Parses, Roots, parse_texts
from .probe import MARGIN, PartScore, Probe, probe_hypotheses
from .rows_and_texts import (
    RowCount,
    TextFigures,
    count_by_class,
    describe_texts,
    tallied_domains,
    tally_texts,
)
from .scoring import Score
from .vocabulary import Vocabularies, compare_vocabularies

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Survey(Statistics):
    """Statistics of a built version, and the papers' tables of its ``config``.

    Attributes:
        row_counts: Rows by split, domain and class.
        counts: Rows and groups by the columns that were named.
        texts: Length and overlap of the texts, by class, domain and split.
        possible_negatives: Mechanisms by the number of categories of their negatives; empty where
            the labels are not those of BioNLI.
        vocabularies: Overlap and cosine of the vocabularies of its domains.
        negatives: Negatives beside their positives, by category.
        probe: Scores of the hypothesis-only probe.
        parses: Shares of sentences with an ``S`` root.
        unmeasured: By name, why one of the last four is None.
    """

    row_counts: tuple[RowCount, ...]
    counts: tuple[ValueCount, ...]
    texts: tuple[TextFigures, ...]
    possible_negatives: tuple[PossibleNegatives, ...]
    vocabularies: Vocabularies | None
    negatives: tuple[CategoryNegatives, ...] | None
    probe: Probe | None
    parses: Parses | None
    unmeasured: dict[str, str]


def survey(
    version: BuiltVersion,
    *,
    probe: bool = False,
    parser: str | None = None,
    by: Sequence[str] = (),
) -> Survey:
    """Measure the statistics of a built version and the papers' tables, reading rows in batches.

    Args:
        version: The version.
        probe: Whether to train the hypothesis-only probe, which takes up to half a minute. Where
            scikit-learn is not installed, ``unmeasured`` says so.
        parser: Address of a CoreNLP server, which takes a tenth of a second or more for a sentence;
            None measures no parses.
        by: Columns to count rows and groups by; ``A+B`` crosses two.

    Raises:
        MissingExtraError: A parser is given, and NLTK is not installed.
        OutputError: Memory or the disk is full.
        ParserError: The parser cannot be reached, does not answer in time, or not in the format of
            CoreNLP.
        UnknownNameError: This package has no dataset of that name, or it has no such column.
        UsageError: The parser is not an address of HTTP.
        VerificationError: A file is missing or malformed.
    """
    config = version.main_config
    unmeasured: dict[str, str] = {}

    def measured(name: str, measure: Callable[..., _Found], *arguments: Any) -> _Found | None:
        try:
            return measure(version, config, *arguments)
        except (UnmeasuredError, MissingExtraError) as error:
            unmeasured[name] = str(error)
            return None

    with open_rows(version) as tables:
        counts = count_values(version, config, by, opened=tables)
        # First, so that a parser that does not answer is reported at once.
        parses = parse_texts(version, config, parser) if parser is not None else None
        tallies = tally_texts(version, config)
        domains = tallied_domains(tallies)
        vocabularies = measured("vocabularies", compare_vocabularies, domains)
        negatives = measured("negatives", describe_negatives, tables)
        probed = measured("probe", probe_hypotheses) if probe else None
        if not probe:
            unmeasured["probe"] = "not asked for"
        if parser is None:
            unmeasured["parses"] = "no parser was named"
        return Survey(
            **vars(measure_statistics(version, tables)),
            row_counts=tuple(count_by_class(version, config, tallies)),
            counts=counts,
            texts=tuple(describe_texts(version, config, tallies)),
            possible_negatives=count_possible_negatives(version, config, tables),
            vocabularies=vocabularies,
            negatives=negatives,
            probe=probed,
            parses=parses,
            unmeasured=unmeasured,
        )


def show_survey(spec: DatasetSpec, survey: Survey) -> str:
    """Show a survey of a dataset in Markdown: the card's statistics, then the papers' tables."""
    sections = [statistics_block(spec, survey)]
    sections += _show_rows(survey.row_counts)
    for name, counts in groupby(survey.counts, key=lambda count: count.by):
        sections += [f"## Rows by {name}", show_counts(list(counts))]
    sections += _show_texts(survey.texts)
    if survey.vocabularies:
        sections += _show_vocabularies(survey.vocabularies)
    if survey.negatives:
        sections += _show_negatives(survey.negatives)
    if survey.possible_negatives:
        sections += _show_possible_negatives(survey.possible_negatives)
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


def show_counts(counts: Sequence[ValueCount]) -> str:
    """Show counts by the same columns in a table, the paper's beside ours where it has any."""
    shown = [
        [c.split, *c.value, f"{c.rows:,}", f"{c.groups:,}", paper]
        for c in counts
        for paper in ["" if c.published is None else f"{c.published:,}"]
    ]
    has_paper = any(count.published is not None for count in counts)
    head = ["split", *counts[0].by.split("+"), "rows", "groups", *["paper's rows"] * has_paper]
    return markdown_table(head, [row[: len(head)] for row in shown], aligns_numbers=True)


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
    rows = []
    for pair in found.shared:
        domains = (f"{name} ({found.different_words[name]:,})" for name in pair.domains)
        cosine = _beside(_show(pair.cosine), _show(pair.published_cosine))
        rows.append((*domains, f"{pair.words:,}", pair.share, cosine))
    yield markdown_table(["domain (words)", "domain (words)", "shared", "shared %", "cosine"], rows)
    published = any(pair.published_cosine is not None for pair in found.shared)
    yield (
        f"Shared: of the {found.compared_words:,} most frequent words of each. Cosine: of the "
        "counts of all words. Without stop words."
        + " In brackets: the paper's, perhaps of other words."
        * published
    )


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


def _show_possible_negatives(counts: Sequence[PossibleNegatives]) -> Iterator[str]:
    splits = list(dict.fromkeys(count.split for count in counts))
    by_number = {(count.n_categories, count.split): count for count in counts}
    rows = []
    for number in dict.fromkeys(count.n_categories for count in counts):
        cells = (by_number[number, split] for split in splits)
        rows.append([number, *(_beside(_show(c.share, 1), _show(c.published, 1)) for c in cells)])
    yield "## Categories of negatives of a mechanism"
    yield markdown_table(["categories", *(f"% of {split}" for split in splits)], rows)
    if any(count.published is not None for count in counts):
        yield "In brackets: the paper's shares (Figure 1)."


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
    yield from _show_parts("label", "labels", probe.labels)
    if probe.categories:
        yield from _show_parts("category", "categories", probe.categories)
    yield (
        "Of others: how often the same is guessed, wrongly, of rows of other labels. Difference: "
        "its 95 % interval."
    )
    words = [[label, ", ".join(map(_code, top))] for label, top in probe.top_words.items()]
    yield markdown_table(["label", "words that speak for it"], words)


def _show_parts(name: str, plural: str, parts: Sequence[PartScore]) -> Iterator[str]:
    shown = []
    for found in parts:
        right = found.right
        above = f"{right.above[0]:.1f} to {right.above[1]:.1f}" if right.above else ""
        figures = [f"{right.value:.1f}", f"{right.chance:.1f}", above]
        shown.append([found.part, f"{found.rows:,}", *figures])
    yield markdown_table([name, "rows", "right %", "of others %", "difference"], shown)
    if told := [one.part for one in parts if one.warns]:
        yield (
            f"**Warning**: the hypothesis alone gives these {plural} away, by more than "
            f"{MARGIN:g} points: {', '.join(told)}."
        )


def _show_score(score: Score) -> list[str]:
    interval = "-".join(f"{end:.1f}" for end in score.interval) if score.interval else ""
    return [f"{score.value:.1f}", interval, f"{score.chance:.1f}"]


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _show(figure: float | None, n_digits: int = 2) -> str:
    return "" if figure is None else f"{figure:.{n_digits}f}"


def _beside(ours: str, theirs: str) -> str:
    return f"{ours} ({theirs})".lstrip() if theirs else ours
