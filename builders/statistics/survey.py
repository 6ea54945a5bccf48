"""All that ``nlihub stats`` measures: the statistics on the card, and the papers' tables."""

from dataclasses import dataclass

from ...loaders.errors import MissingExtraError, UnmeasuredError
from ..versions.card_statistics import Statistics, measure
from ..versions.version import BuiltVersion
from .negatives import CategoryNegatives, describe_negatives
from .parses import Parses, parse_texts
from .probe import Probe, probe_hypotheses
from .tallies import RowCount, count_rows, find_domains
from .texts import TextFigures, describe_texts, tally_texts
from .vocabulary import Vocabularies, compare_vocabularies


@dataclass(frozen=True)
class Survey(Statistics):
    """Statistics of a built version, and the papers' tables of its ``config``.

    Attributes:
        row_counts: Rows by split, domain and class.
        texts: Length and overlap of the texts, by class, domain and split.
        vocabularies: Overlap of the vocabularies of its domains.
        negatives: Negatives beside their positives, by category.
        probe: Scores of the hypothesis-only probe.
        parses: Shares of sentences with an ``S`` root.
        unmeasured: By name, why one of the last four is None.
    """

    row_counts: tuple[RowCount, ...]
    texts: tuple[TextFigures, ...]
    vocabularies: Vocabularies | None
    negatives: tuple[CategoryNegatives, ...] | None
    probe: Probe | None
    parses: Parses | None
    unmeasured: dict[str, str]


def survey(version: BuiltVersion, *, probe: bool = False, parser: str | None = None) -> Survey:
    """Measure a built version, reading rows in batches.

    Args:
        version: The version.
        probe: Whether to train the hypothesis-only probe, which takes up to half a minute. Where
            scikit-learn is not installed, ``unmeasured`` says so.
        parser: Address of a CoreNLP server, which takes a tenth of a second or more for a sentence;
            None measures no parses.

    Returns:
        The survey.

    Raises:
        MissingExtraError: A parser is given, and NLTK is not installed.
        ParserError: The parser cannot be reached, does not answer in time, or not in the format of
            CoreNLP.
        UnknownNameError: This package has no dataset of that name.
        UsageError: The parser is not an address of HTTP.
        VerificationError: A file is missing or malformed.
    """
    config = version.main_config
    # First, so that a parser that does not answer is reported at once.
    parses = parse_texts(version, config, parser) if parser is not None else None
    unmeasured: dict[str, str] = {}
    tallies = tally_texts(version, config)
    vocabularies: Vocabularies | None = None
    try:
        vocabularies = compare_vocabularies(version, config, find_domains(tallies))
    except UnmeasuredError as error:
        unmeasured["vocabularies"] = str(error)
    negatives: tuple[CategoryNegatives, ...] | None = None
    try:
        negatives = describe_negatives(version, config)
    except UnmeasuredError as error:
        unmeasured["negatives"] = str(error)
    probed: Probe | None = None
    if probe:
        try:
            probed = probe_hypotheses(version, config)
        except (UnmeasuredError, MissingExtraError) as error:
            unmeasured["probe"] = str(error)
    else:
        unmeasured["probe"] = "not asked for"
    if parser is None:
        unmeasured["parses"] = "no parser was named"
    return Survey(
        **vars(measure(version)),
        row_counts=tuple(count_rows(version, config, tallies)),
        texts=tuple(describe_texts(version, config, tallies)),
        vocabularies=vocabularies,
        negatives=negatives,
        probe=probed,
        parses=parses,
        unmeasured=unmeasured,
    )
