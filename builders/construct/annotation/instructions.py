"""What annotators are told."""

from collections.abc import Sequence

from ....loaders.releases.scinli import LABELS
from .candidates import UNCLEAR

#: The classes of SciNLI in our words (SciNLI, section 3.1).
_MEANINGS = {
    "contrasting": "One sentence sets itself against the other: it compares, criticises, limits or "
    "contradicts something that the other says.",
    "reasoning": "Sentence 1 gives a reason, a cause or a condition, and sentence 2 what follows "
    "from it: a result, a conclusion or a decision.",
    "entailment": "Both sentences speak of the same thing: one says it more generally, more "
    "exactly or in other words.",
    "neutral": "Neither sentence depends on the other in meaning: no relation of the kinds above.",
}


def instructions(labels: Sequence[str]) -> str:
    """The instructions for a batch.

    Args:
        labels: The label set; where it is that of SciNLI, each class is defined.

    Returns:
        Markdown.

    Source:
        SciNLI, section 3.3: judge by the two sentences alone; "unclear" where they do not tell.
    """
    meanings = _MEANINGS if set(labels) == set(LABELS) else {}
    answers = [f"- `{label}`" + (f": {meanings[label]}" if meanings else "") for label in labels]
    return "\n".join(
        [
            "# How to annotate",
            "",
            "Each pair has two sentences from scientific papers. Say how the second (the",
            "hypothesis) relates to the first (the premise).",
            "",
            "- Judge by these two sentences alone. Do not look up the paper, do not guess what",
            "  stood between or around them, and do not use what you know of the work.",
            "- Work alone: do not discuss a pair with the other annotators before all are done.",
            "- Give one answer for each pair. Leave a pair blank only if you have not come to it.",
            "",
            "## Answers",
            "",
            *answers,
            f"- `{UNCLEAR}`: the two sentences do not tell which of these it is.",
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
