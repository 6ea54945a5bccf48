"""What annotators are asked of the two texts of a pair, and the instructions they get."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .candidates import UNCLEAR


@dataclass(frozen=True)
class AnnotatorQuestion:
    """A question to annotators.

    Attributes:
        names: The names of premise and hypothesis that annotators see.
        task: The task, lines of Markdown that end in a list.
        meanings: By label, its meaning in a sentence.
        unclear: The meaning of the answer ``unclear``.
    """

    names: tuple[str, str]
    task: tuple[str, ...]
    meanings: Mapping[str, str]
    unclear: str


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


def annotator_instructions(labels: Sequence[str], question: AnnotatorQuestion = RELATION) -> str:
    """Return the instructions for annotators, in Markdown.

    Args:
        labels: The label set, without ``unclear``; explained where the question has its meanings.
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
            f"- `{UNCLEAR}`: {question.unclear}",
            "",
            "## Where to answer",
            "",
            "In a spreadsheet: write the answer into the column `answer`, leave the other columns",
            "as they are, and save as CSV in UTF-8 under the same name. An apostrophe before a",
            "sentence that begins with a sign such as `=` or `-` keeps it from becoming a formula;",
            "leave it there.",
            "",
            "In Label Studio: choose an answer and submit.",
            "",
        ]
    )
