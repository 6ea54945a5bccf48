"""What annotators are told."""

from collections.abc import Sequence

from .candidates import UNCLEAR
from .question import RELATION, Question


def instructions(labels: Sequence[str], question: Question = RELATION) -> str:
    """The instructions for a batch.

    Args:
        labels: The label set; where the question says what each means, so do the instructions.
        question: What is asked.

    Returns:
        Markdown.

    Source:
        SciNLI, section 3.3: judge by the two sentences alone; "unclear" where they do not tell.
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
