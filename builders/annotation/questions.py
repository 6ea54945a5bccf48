"""What annotators are asked of the two texts of a pair, and the instructions they get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..procedures.patterns.answer_scale import SCALE
from .candidates import UNCLEAR
from .completions import COLUMNS as COMPLETED


@dataclass(frozen=True)
class AnnotatorQuestion:
    """A question to annotators.

    Attributes:
        names: The names of premise and hypothesis that annotators see.
        task: The task, lines of Markdown that end in a list.
        meanings: By label, its meaning in a sentence.
        unclear: The meaning of the answer ``unclear``; empty where it is not offered.
        others: By further answers that are not labels, their meaning.
        may_complete: Whether annotators may complete sentences that are broken.
    """

    names: tuple[str, str]
    task: tuple[str, ...]
    meanings: Mapping[str, str]
    unclear: str
    others: Mapping[str, str] = field(default_factory=dict)
    may_complete: bool = False

    @property
    def besides(self) -> dict[str, str]:
        """The meanings of the answers that are not labels, by answer."""
        return ({UNCLEAR: self.unclear} if self.unclear else {}) | dict(self.others)


#: How one sentence relates to another. The classes of SciNLI are in our words (section 3.1).
RELATION = AnnotatorQuestion(
    names=("Sentence 1", "Sentence 2"),
    task=(
        "Each pair has two sentences from scientific papers. Say how the second (the",
        "hypothesis) relates to the first (the premise).",
        "",
        "- Judge by these two sentences alone. Do not look up the paper, do not guess what",
        "  stood between or around them, and do not use what you know of the work.",
    ),
    meanings={
        "contrasting": "One sentence sets itself against the other: it compares, criticises, "
        "limits or contradicts something that the other says.",
        "reasoning": "Sentence 1 gives a reason, a cause or a condition, and sentence 2 what "
        "follows from it: a result, a conclusion or a decision.",
        "entailment": "Both sentences speak of the same thing: one says it more generally, more "
        "exactly or in other words.",
        "neutral": "Neither sentence depends on the other in meaning: no relation of the kinds "
        "above.",
    },
    unclear="the two sentences do not tell which of these it is.",
    may_complete=True,
)

#: Whether a conclusion follows from what is given for it (BioNLI, section 3.5).
FOLLOWS = AnnotatorQuestion(
    names=("Text", "Conclusion"),
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
    meanings={
        "yes": "The conclusion can be drawn from the text.",
        "no": "It cannot: the text says otherwise, or does not say it.",
    },
    unclear="cannot be judged: the text or the conclusion cannot be understood.",
)

#: To what extent a hypothesis is true (SpaceNLI, section 3.1 and its note on the question).
EXTENT_OF_TRUTH = AnnotatorQuestion(
    names=("Premises", "Hypothesis"),
    task=(
        "Each problem has one or more premises and a hypothesis. Take the premises as true, and",
        "say to what extent the hypothesis is true then.",
        "",
        "- Read the sentences as everyday English; use what everyone knows of things and places,",
        "  not special knowledge.",
        "- Judge each problem for itself, even if it is like another one: nothing says that they",
        "  have the same answer, nor how often an answer is right.",
    ),
    meanings=dict(
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
    unclear="",
    others={
        "difficult": "the reasoning that it takes is too complex to judge.",
        "skip": "a sentence is ungrammatical or makes no sense.",
    },
)

#: What a question that lets annotators complete sentences says of it.
_COMPLETE = (
    "## Broken sentences",
    "",
    "Where a sentence is visibly broken, because its text was extracted badly, and you can tell",
    f"how it must read, write the whole sentence into `{COMPLETED[0]}` or",
    f"`{COMPLETED[1]}`, and judge the pair with it. Mend only what is broken: do not",
    "improve, shorten or explain. Leave these blank everywhere else, and where you can only guess.",
    "",
)


def annotator_instructions(labels: Sequence[str], question: AnnotatorQuestion = RELATION) -> str:
    """Return the instructions for annotators, in Markdown.

    Args:
        labels: The label set, without the other answers; explained where the question has its
            meanings.
        question: The question that annotators answer.

    Source: SciNLI, section 3.3: judge by the two sentences alone; "unclear" where they do not tell.
    """
    meanings = question.meanings if set(labels) == set(question.meanings) else {}
    answers = [f"- `{label}`" + (f": {meanings[label]}" if meanings else "") for label in labels]
    return "\n".join(
        [
            "# How to annotate",
            "",
            *question.task,
            "- Work alone: do not discuss a pair with the other annotators before all are done.",
            "- Give one answer for each pair. Leave a pair blank only if you have not come to it.",
            "",
            "## Answers",
            "",
            *answers,
            *(f"- `{answer}`: {meaning}" for answer, meaning in question.besides.items()),
            "",
            *(_COMPLETE if question.may_complete else ()),
            "## Where to answer",
            "",
            "In a spreadsheet: write the answer into the column `answer`, leave keys and texts as",
            "they are, and save as CSV in UTF-8 under the same name. An apostrophe before a",
            "sentence that begins with a sign such as `=` or `-` keeps it from becoming a formula;",
            "leave it there.",
            "",
            "In Label Studio: choose an answer and submit.",
            "",
        ]
    )
