"""Tasks for people: the four questions of the papers, from the draw to the figures.

Each is a question, a draw of items and a measure of the answers. All have one folder layout, one
reader and one importer; an answer may come to any batch at any time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...loaders.errors import AnnotationError, Defect, UsageError
from ...loaders.paths import local_path
from ..procedures.papers.declaration import UNBALANCED
from ..versions.open import PathLike
from ..versions.version import BuiltVersion
from .agreement import (
    UNCLEAR,
    CodeTally,
    Quality,
    Review,
    count_missing,
    measure_negatives,
    measure_relations,
    tally_codes,
)
from .answers import import_files, read_answers
from .batch import SEPARATOR, Batch, Question, read_batches, write_batch
from .draw import EVALUATION, Drawn, draw_negatives, draw_pairs, draw_problems, read_rows
from .pattern_labels import SCALE, PatternValidation, measure_patterns
from .sheets import read_sheet

#: How one sentence relates to another. The classes of SciNLI are in our words (section 3.1).
RELATION = Question(
    name="relation",
    headings=("Sentence 1", "Sentence 2"),
    task=(
        "Each pair has two sentences from scientific papers. Say how the second (the",
        "hypothesis) relates to the first (the premise).",
        "",
        "- Judge by these two sentences alone. Do not look up the paper, do not guess what",
        "  stood between or around them, and do not use what you know of the work.",
    ),
    labels={
        "contrasting": "One sentence sets itself against the other: it compares, criticises, "
        "limits or contradicts something that the other says.",
        "reasoning": "Sentence 1 gives a reason, a cause or a condition, and sentence 2 what "
        "follows from it: a result, a conclusion or a decision.",
        "entailment": "Both sentences speak of the same thing: one says it more generally, more "
        "exactly or in other words.",
        "neutral": "Neither sentence depends on the other in meaning: no relation of the kinds "
        "above.",
    },
    others={UNCLEAR: "the two sentences do not tell which of these it is."},
    may_complete=True,
)

#: Whether a conclusion follows from what is given for it (BioNLI, section 3.5).
FOLLOWS = Question(
    name="follows",
    headings=("Text", "Conclusion"),
    task=(
        "Each pair has a text from an abstract (the premise) and a conclusion (the hypothesis).",
        "Say whether the conclusion can be drawn from the text.",
        "",
        "- Judge by the text. What you know of the field helps to understand it; do not look up",
        "  the abstract, and do not ask whether the conclusion is true elsewhere.",
        "- `<re> ... <er>` marks what regulates, `<el> ... <le>` what is regulated; either may be",
        "  wrong, and then the conclusion cannot be drawn.",
        "- Judge each pair for itself: nothing says how many conclusions can be drawn.",
    ),
    labels={
        "no": "It cannot: the text says otherwise, or does not say it.",
        "yes": "The conclusion can be drawn from the text.",
    },
    others={UNCLEAR: "cannot be judged: the text or the conclusion cannot be understood."},
)

#: To what extent a hypothesis is true (SpaceNLI, section 3.1 and its note on the question).
TRUTH = Question(
    name="truth",
    headings=("Premises", "Hypothesis"),
    task=(
        "Each problem has one or more premises and a hypothesis. Take the premises as true, and",
        "say to what extent the hypothesis is true then.",
        "",
        "- Read the sentences as everyday English; use what everyone knows of things and places,",
        "  not special knowledge.",
        "- Judge each problem for itself, even if it is like another one: nothing says that they",
        "  have the same answer, nor how often an answer is right.",
    ),
    labels=dict(
        zip(
            SCALE,
            (
                "It cannot be true if the premises are.",
                "It is hardly true; only an unusual situation would make it so.",
                "The premises leave it open.",
                "It is true in all but unusual situations.",
                "It must be true if the premises are.",
            ),
            strict=True,
        )
    ),
    others={
        "difficult": "the reasoning that it takes is too complex to judge.",
        "skip": "a sentence is ungrammatical or makes no sense.",
    },
)

#: What makes a system err (BioNLI, Table 6); the codes are those of a coding scheme.
ERROR = Question(
    name="error",
    headings=("Premise", "Hypothesis"),
    task=(
        "Each row has a premise, a hypothesis, and the gold label of how they relate. One or two",
        "systems predicted a label; at least one prediction is wrong. Of two systems, which",
        "stands first changes from row to row.",
        "Say what made the pair hard, by the codes below.",
        "",
        "- Give each error one main code: the one that explains it best. Where others apply",
        f"  too, add them after it, separated by `{SEPARATOR}`: `main code; another; a third`.",
        "- Leave an error blank if no code fits.",
    ),
    labels={},
    person="coder",
    several=True,
)


#: By question, what measures the answers to it.
MEASURES: Mapping[str, Callable[..., Review | Quality | PatternValidation | CodeTally]] = {
    RELATION.name: measure_relations,
    FOLLOWS.name: measure_negatives,
    TRUTH.name: measure_patterns,
    ERROR.name: tally_codes,
}


@dataclass(frozen=True)
class BatchExport:
    """A batch that was written for people.

    Attributes:
        folder: Its folder.
        sheets: The folder in it that people get, and nothing else: a sheet for each, tasks for
            Label Studio, instructions.
        n_pairs: Number of its pairs.
        short: How many pairs are lacking of each kind with too few left: a class of a domain and
            split, a strategy of negatives, ``controls``, or a pattern.
    """

    folder: Path
    sheets: Path
    n_pairs: int
    short: Mapping[Any, int]


def export(
    version: PathLike,
    batches: PathLike,
    per_class: Mapping[str, int],
    *,
    n_pairs: int | None = None,
    n_annotators: int = 3,
    seed: int = 1,
) -> BatchExport:
    """Write the next batch of evaluation pairs for annotators: pairs alone, no labels.

    Args:
        version: Folder of a version that was built from papers.
        batches: The folder of all batches; a new one is made in it.
        per_class: By split, how many confirmed pairs of each class and domain are wanted.
        n_pairs: How many pairs there are in this batch, as many of each class and domain; None
            takes all that are missing.
        n_annotators: How many people judge each pair, 2 or more.
        seed: Decides which pairs are drawn.

    Raises:
        UsageError: The version was not made from papers, a quota or the number of annotators is
            too small, every class has its quota, none of what it lacks is left, or the last batch
            has no answers yet; or the batches ask another question.
        VerificationError: A file of the version was changed since it was built.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: Another batch was written at the same time.
    """
    built = BuiltVersion(local_path(version)).require_whole()
    domains = list_domains(built, per_class)
    labels = built.manifest.labels
    earlier = _read_answered(batches, RELATION)
    missing = count_missing((), per_class, domains, labels)
    if earlier:
        answers = read_answers(local_path(batches), earlier)
        missing = measure_relations(earlier, answers, per_class).missing
    if not missing:
        raise UsageError("Every class has its quota: nothing is left to annotate.")
    drawn = draw_pairs(built, earlier, missing, n_pairs, seed)
    if not drawn.items:
        raise UsageError("No pair is left of the classes that lack some. Build with more papers.")
    is_known = set(labels) == set(RELATION.labels)
    meanings = {label: RELATION.labels[label] if is_known else "" for label in labels}
    question = replace(RELATION, labels=meanings)
    origin = {"per_class": dict(per_class), "domains": domains}
    return _hand_out(batches, earlier, question, drawn, n_annotators, origin)


def list_domains(version: BuiltVersion, per_class: Mapping[str, int]) -> list[str]:
    """List the domains of the evaluation pairs of a version made from papers.

    Raises:
        UsageError: The version has no such pairs, or is annotated already; or a split has no
            quota, or one below 1.
    """
    splits = [s for s in EVALUATION if s in version.manifest.configs.get(UNBALANCED, {})]
    if not splits or "agreement" in version.manifest.construction:
        raise UsageError(
            f"{version.folder} has no candidates to annotate; expected a version that nlihub "
            "construct papers made, before annotation."
        )
    shown = ", ".join(f"{split}={n}" for split, n in per_class.items())
    if per_class.keys() != set(splits):
        raise UsageError(
            f"Quotas are given for {shown or 'no split'}; expected one for "
            f"{' and one for '.join(splits)}."
        )
    if min(per_class.values()) < 1:
        raise UsageError(f"The quotas are {shown}; expected 1 or more in each split.")
    rows = read_rows(version, UNBALANCED, ("label", "domain"), splits=splits)
    return sorted({row["domain"] for row in rows})


def sample_negatives(
    version: PathLike,
    batches: PathLike,
    *,
    strategies: Sequence[str] | None = None,
    n_pairs: int | None = None,
    n_controls: int = 0,
    n_annotators: int = 2,
    seed: int = 1,
) -> BatchExport:
    """Write a blind sample of negatives for experts: can the hypothesis be concluded?

    Args:
        version: Folder of a version with adversarial negatives, as BioNLI's; its main config.
        batches: The folder of all batches; a new one is made in it, of other pairs than the
            earlier ones.
        strategies: The strategies, by category; None takes all that it has.
        n_pairs: How many pairs there are, as many of each strategy, controls included; None takes
            25 of each strategy besides the controls.
        n_controls: Positives among them, so that "no" is not always right.
        n_annotators: How many experts judge each pair, 2 or more.
        seed: Decides which pairs are drawn.

    Raises:
        UnknownNameError: There is no negative of a strategy.
        UsageError: The version has no such pairs, none are left, or the last batch has no answers
            yet; or the batches ask another question, or another number of people.
        VerificationError: A file of the version was changed since it was built.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: Another batch was written at the same time.

    Source: BioNLI, section 3.5.
    """
    built = BuiltVersion(local_path(version)).require_whole()
    earlier = _read_answered(batches, FOLLOWS)
    drawn = draw_negatives(built, earlier, strategies, n_pairs, n_controls, seed)
    return _hand_out(batches, earlier, FOLLOWS, drawn, n_annotators)


def sample_patterns(
    version: PathLike,
    batches: PathLike,
    *,
    patterns: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    n_pairs: int | None = None,
    n_annotators: int = 3,
    seed: int = 1,
) -> BatchExport:
    """Write a blind sample of each pattern for annotators: to what extent is the hypothesis true?

    Args:
        version: Folder of a version that was drawn from patterns: SpaceNLI, or a bank of one's own.
        batches: The folder of all batches; a new one is made in it, of other problems than the
            earlier ones.
        patterns: The patterns; None for all.
        categories: The inference classes of the patterns; None for all.
        n_pairs: How many problems there are, as many of each pattern; None takes 3 of each.
        n_annotators: How many people judge each problem, 2 or more.
        seed: Decides which problems are drawn.

    Raises:
        UnknownNameError: There is no such pattern or inference class.
        UsageError: The version has no such pairs, none are left, or the last batch has no answers
            yet; or the batches ask another question, or another number of people.
        VerificationError: A file of the version was changed since it was built.
        AnnotationError: The batches, or the answers to them, are malformed or of other problems.
        OutputError: Another batch was written at the same time.

    Source: SpaceNLI, section 3.1: a 5-point scale, ``difficult`` and ``skip``; three annotators and
        three random problems of each pattern.
    """
    built = BuiltVersion(local_path(version)).require_whole()
    earlier = _read_answered(batches, TRUTH)
    drawn = draw_problems(built, earlier, patterns, categories, n_pairs, seed)
    return _hand_out(batches, earlier, TRUTH, drawn, n_annotators)


def _read_answered(folder: PathLike, question: Question) -> list[Batch]:
    """Read the batches of a folder; refuse those that ask something else or have no answers."""
    batches = read_batches(local_path(folder))
    answers = read_answers(local_path(folder), batches)
    for batch in batches:
        if batch.question.name != question.name:
            raise UsageError(
                f"{batch.folder} asks for {', '.join(batch.question.labels)}; begin another folder."
            )
        if not any(answers.by_key[key] for key in batch.items):
            raise UsageError(
                f"{batch.folder} has no answers yet; import them first: nlihub annotate import."
            )
    return batches


def _hand_out(
    folder: PathLike,
    earlier: Sequence[Batch],
    question: Question,
    drawn: Drawn,
    n_people: int,
    origin: Mapping[str, Any] | None = None,
) -> BatchExport:
    if n_people < 2:
        raise UsageError(f"n_annotators is {n_people}; a majority needs 2 or more.")
    batch = write_batch(local_path(folder), earlier, question, drawn.items, n_people, origin or {})
    return BatchExport(batch.folder, batch.sheets, len(drawn.items), drawn.short)


def import_answers(batches: PathLike, answers: Sequence[PathLike]) -> None:
    """Import answers to any batches of a folder, in any order; ``review`` measures them.

    Args:
        batches: The folder of batches: of pairs, of negatives, of patterns, or of errors.
        answers: The sheets, filled in, or exports of Label Studio. What a person answers replaces
            what the same person answered to that batch before.

    Raises:
        UsageError: There is no batch, or nothing is answered.
        AnnotationError: An answer is malformed, or of no batch; then nothing is imported.
        OutputError: The folder cannot be written to.
    """
    folder = local_path(batches)
    import_files(folder, open_batches(folder), [local_path(path) for path in answers])


def review(
    batches: PathLike, *, min_agreement: float | None = None
) -> Review | Quality | PatternValidation | CodeTally:
    """Measure the answers to the batches of a folder.

    Args:
        batches: The folder of batches.
        min_agreement: Of patterns: where a smaller share of the pairs of annotators gave the same
            label, a pattern is of low agreement; from 0 to 1. None takes two thirds.

    Returns:
        A ``Review`` of pairs from papers, the ``Quality`` of negatives, a ``PatternValidation``, or
        a ``CodeTally`` of errors.

    Raises:
        UsageError: There is no batch, or ``min_agreement`` is given for another question, or is not
            between 0 and 1.
        AnnotationError: The batches, or the answers to them, are malformed.
    """
    folder = local_path(batches)
    found = open_batches(folder)
    name = found[0].question.name
    if min_agreement is not None and name != TRUTH.name:
        raise UsageError(f"{folder} has no patterns: leave out the bound of agreement.")
    options = {} if min_agreement is None else {"min_agreement": min_agreement}
    return MEASURES[name](found, read_answers(folder, found), **options)


def open_batches(folder: Path) -> list[Batch]:
    """Read the batches of a folder.

    Raises:
        UsageError: There is no batch, or it asks a question of a newer nlihub.
        AnnotationError: A batch is missing or damaged.
    """
    found = read_batches(folder)
    for batch in found:
        if batch.question.name not in MEASURES:
            raise UsageError(
                f"{batch.folder} asks the question {batch.question.name!r}; expected "
                f"{', '.join(MEASURES)}. Was it made by a newer nlihub?"
            )
    if not found:
        raise UsageError(
            f"{folder} has no batch; make one: nlihub annotate export, nlihub annotate sample, or "
            "nlihub score --errors."
        )
    return found


def read_coding_scheme(path: Path) -> dict[str, str]:
    """Read a coding scheme from a CSV file with the columns ``code`` and ``description``.

    For example the six categories of BioNLI's Table 6, described in our words::

        code,description
        multiple pieces of information,Several statements of the text must be combined.
        abbreviation,"An entity is written out in one sentence, and abbreviated in another."
        unrelated information,"The two entities are far apart, with other matters in between."
        mechanism mix up,"Of two experiments on the entities, only one shows the mechanism."
        noun phrase mix up,"The parts of a noun phrase, such as around a dash, swap their roles."
        entity similarity,"Another entity has a similar name, or shares a part of it."

    Args:
        path: The file, in UTF-8, its cells separated by commas, semicolons or tabs.

    Returns:
        By code, when to give it, in the order of the file.

    Raises:
        AnnotationError: The file cannot be read, or lacks a column; a code is blank, has a ``;`` or
            no description, or occurs twice whatever its case; or there are fewer than two codes.
    """
    rows, defects = read_sheet(path, ("code", "description"), mark="")
    codes: dict[str, str] = {}
    for line, row in rows:
        code, description = (" ".join(text.split()) for text in row.values())
        problem = ""
        if not code or not description:
            problem = f"{'no description' if code else 'no code'}; expected both"
        elif SEPARATOR in code:
            problem = f"the code {code!r} has a {SEPARATOR}, which separates codes"
        elif code.casefold() in map(str.casefold, codes):
            problem = f"the code {code!r} occurs twice"
        if problem:
            defects.append(Defect(str(path), line, "", problem))
        codes[code] = description
    if not defects and len(codes) < 2:
        found = f"one code, {next(iter(codes))!r}" if codes else "no code"
        defects.append(Defect(str(path), 0, "", f"{found}; expected two or more"))
    if defects:
        raise AnnotationError(
            defects,
            "Give a CSV file with the columns code and description, and two codes or more, one in "
            "a row.",
        )
    return codes
