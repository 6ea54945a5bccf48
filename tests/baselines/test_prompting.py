"""Prompts, the reading of answers, and models asked: on this machine and over a real connection."""

import contextlib
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pyarrow as pa
import pytest
from command_line import run_command
from nlihub.baselines.runs.data import read_run_rows
from nlihub.baselines.systems.prompting.answers import (
    REASONS,
    Reading,
    _mentions,
    count_reasons,
    read_answer,
)
from nlihub.baselines.systems.prompting.ask import Answer, PromptQuestion, ask_model
from nlihub.baselines.systems.prompting.local import LocalModel
from nlihub.baselines.systems.prompting.prompts import (
    FORMS,
    HEADINGS,
    Prompt,
    PromptOption,
    Shot,
    chat_messages,
    draw_exemplars,
    get_prompt,
)
from nlihub.baselines.systems.prompting.server import ChatServer, ServerError
from nlihub.baselines.systems.prompting.show import show_prompt, tabulate_prompts
from nlihub.loaders.errors import (
    MissingExtraError,
    ModelError,
    NLIHubError,
    OutputError,
    SchemaError,
    UnknownNameError,
    UsageError,
)

SCIENCE = ("contrasting", "reasoning", "entailment", "neutral")
SPACE = ("entailment", "neutral", "contradiction")
BIO = ("not_entailment", "entailment")
LABEL_SETS = (SCIENCE, SPACE, BIO)
KEY = "sk-very-secret-0123456789"

# --- prompts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", LABEL_SETS)
@pytest.mark.parametrize("form", FORMS)
def test_every_label_is_an_option_once(form, labels):
    prompt = get_prompt(form, labels)
    assert prompt.labels == labels
    assert sorted(option.label for option in prompt.options) == sorted(labels)
    shown = prompt.template[prompt.template.index("$hypothesis") :]
    for option in prompt.options:
        line = f"({option.mark}) " if form == "p3" else f"{option.mark}. "
        assert shown.count(f"\n{line}{option.wording}\n") == 1
    named = Counter(mention.label for mention in _mentions(prompt.template, prompt))
    definitions = 2 if form == "p2" else 1
    assert {label: named[label] >= definitions for label in labels} == dict.fromkeys(labels, True)


def test_the_options_have_the_papers_order():
    order = ["entailment", "reasoning", "contrasting", "neutral"]
    for form, marks in (("p1", "1234"), ("p2", "1234"), ("p3", "abcd")):
        prompt = get_prompt(form, SCIENCE)
        assert [option.label for option in prompt.options] == order
        assert "".join(option.mark for option in prompt.options) == marks
    template = get_prompt("p2", SCIENCE).template
    defined = re.findall(r"^- (\w+):", template, re.MULTILINE)
    assert defined == ["Entailment", "Contrasting", "Reasoning", "Neutral"]
    assert template.index("- Entailment") < template.index("$premise")
    assert "Entailment" not in get_prompt("p3", SCIENCE).template


@pytest.mark.parametrize("labels", LABEL_SETS)
def test_no_definition_holds_a_label_or_another_definition(labels):
    wordings = [option.wording for option in get_prompt("p3", labels).options]
    for wording in wordings:
        assert not any(label.replace("_", " ") in wording.casefold() for label in labels)
        assert [other for other in wordings if wording in other] == [wording]


@pytest.mark.parametrize("labels", LABEL_SETS)
@pytest.mark.parametrize("form", FORMS)
def test_what_exemplars_reply_is_read_as_their_label(form, labels):
    prompt = get_prompt(form, labels)
    for index, label in enumerate(labels):
        assert read_answer(prompt.reply(label), prompt).label == index


def test_the_ids_follow_the_order_that_was_given():
    prompt = get_prompt("p1", BIO[::-1])
    assert read_answer("Not entailment", prompt).label == 1


@pytest.mark.parametrize(
    "text",
    [
        "braces {premise} {0} {}",
        "$hypothesis $premise $$ ${premise} $",
        "%s %(premise)s \\1 \\g<0> \\n",
        'lines\n"""\n\nAnswer: 2\n"""',
        '"' * 7,
        "",
        " \n\t ",
        "Zürich \u2028 \U0001f600 \x00 \r\n",
    ],
)
def test_texts_are_kept_verbatim_and_delimited(text):
    question = get_prompt("p1", SCIENCE).question(text, "other")
    fence = re.search(r'^Sentence 1:\n("+)\n', question)
    fence = fence or re.search(r'\nSentence 1:\n("+)\n', question)
    inside = question[fence.end() :].split(f"\n{fence[1]}\n\nSentence 2:\n", 1)[0]
    assert inside == text
    assert fence[1] not in text
    both = get_prompt("p1", SCIENCE).question("$hypothesis", text)
    assert both.count('\n$hypothesis\n"""\n') == 1  # the premise, not replaced


def test_a_chat_has_exemplars_as_earlier_turns():
    prompt = get_prompt("p1", SCIENCE)
    shots = [Shot("a", "P {a}", "H a", "neutral"), Shot("b", "P b", "H b", "reasoning")]
    chat = chat_messages(prompt, "P", "H", shots)
    assert [turn["role"] for turn in chat] == ["user", "assistant"] * 2 + ["user"]
    assert [chat[1]["content"], chat[3]["content"]] == ["4. Neutral", "2. Reasoning"]
    assert chat[0]["content"] == prompt.question("P {a}", "H a")
    assert chat_messages(prompt, "P", "H") == chat[-1:]
    with pytest.raises(UnknownNameError, match=r"'neutrall'\. Did you mean 'neutral'"):
        chat_messages(prompt, "P", "H", [Shot("a", "P", "H", "neutrall")])


def test_unknown_forms_and_labels_are_refused():
    with pytest.raises(UnknownNameError, match="no prompt 'p4'"):
        get_prompt("p4", SCIENCE)
    for labels in (("yes", "no"), ("entailment", "neutral"), (*BIO, "entailment")):
        with pytest.raises(UsageError, match="no prompt for the labels"):
            get_prompt("p1", labels)


YES, NO = PromptOption("yes", "1", "Yes", "1. Yes"), PromptOption("no", "2", "No", "2. No")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"template": "$premise"}, "must have"),
        ({"template": "$premise $hypothesis $label"}, "must have"),
        ({"template": "$premise $hypothesis 5$"}, "must have"),
        ({"options": (YES,)}, "one option for each"),
        ({"options": (YES, YES)}, "one option for each"),
        ({"options": (YES, dataclasses.replace(NO, mark="1"))}, "each once"),
        ({"options": (YES, dataclasses.replace(NO, mark="b"))}, "numbers, or lower-case letters"),
    ],
)
def test_a_prompt_of_ones_own_is_checked(changes, message):
    given = {"template": "$premise $hypothesis", "options": (YES, NO), "labels": ("no", "yes")}
    assert read_answer("1.", Prompt("own", **given)).label == 1
    with pytest.raises(UsageError, match=message):
        Prompt("own", **(given | changes))


def _write_pairs(path, ids, labels=SPACE):
    rows = [
        {"id": id_, "premise": f"P {id_}", "hypothesis": f"H {id_}", "label": labels[i % 3]}
        for i, id_ in enumerate(ids)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_a_prompt_is_shown_as_it_is_sent(tmp_path):
    """The command prints what ``ask_model`` sends for the same rows, form and draw."""

    class Recorder:
        settings: ClassVar[dict[str, str]] = {}

        def answers(self, questions):
            self.messages = {question.id: question.messages for question in questions}
            yield from (Answer(question.id, "1") for question in questions)

    test = _write_pairs(tmp_path / "test.jsonl", ["t0", "t1", "t2"])
    pool = _write_pairs(tmp_path / "pool.jsonl", [f"p{i}" for i in range(30)])
    tables = [read_run_rows(path, "test") for path in (test, pool)]
    for form, n_shots in (("p1", 0), ("p3", 3)):
        prompt, recorder = get_prompt(form, SPACE), Recorder()
        shots = draw_exemplars(tables[1].rows, SPACE, 7) if n_shots else ()
        ask_model(tables[0].rows, recorder, prompt, shots, tmp_path / f"{form}.jsonl")
        options = ["--dataset", test, "--form", form, "--shots", str(n_shots), "--row", "t1"]
        options += ["--shots-from", pool, "--seed", "7"]
        command = ["baseline", "prompt", *options]
        shown = json.loads(run_command(*command, "--json").stdout)
        assert shown["messages"] == recorder.messages["t1"]
        assert shown["shots"] == [shot.id for shot in shots]
        text = run_command(*command).stdout
        assert text == shown["text"] + "\n"
        assert text.count(HEADINGS["user"]) == n_shots + 1
        assert text.endswith(f"{HEADINGS['assistant']}\n\n")
    assert show_prompt(test)["row"] == "t0"


def test_a_prompt_that_no_run_would_send_is_refused(tmp_path):
    test = _write_pairs(tmp_path / "test.jsonl", ["t0", "t1", "t2"])
    with pytest.raises(UsageError, match="4 shots; expected 0, or 3"):
        show_prompt(test, n_shots=4)
    with pytest.raises(UnknownNameError, match="no row 't9'"):
        show_prompt(test, row="t9")
    with pytest.raises(UnknownNameError, match="no prompt 'p4'"):
        show_prompt(test, form="p4")
    with pytest.raises(UsageError, match="t0 is one of the exemplars"):
        show_prompt(test, n_shots=3)


def test_exemplars_are_those_that_the_dataset_declares(releases):
    folder = releases / "jsonl"
    found = show_prompt("scinli", n_shots=4, folder=folder)
    pool = read_run_rows("scinli/human", "train", folder)
    assert found["shots"] == [shot.id for shot in draw_exemplars(pool.rows, pool.labels, 1)]
    named = show_prompt("scinli", n_shots=4, shots_from="scinli:validation", folder=folder)
    assert all(shot.startswith("dev_") for shot in named["shots"])
    of_domain = show_prompt("mscinli/networks", n_shots=4, folder=folder)
    assert all(shot.startswith("dev_") for shot in of_domain["shots"])


@pytest.mark.parametrize("dataset", ["mscinli/hardware", "spacenli", "bionli"])
def test_the_forms_are_shown_side_by_side(dataset):
    head, _, question, answers = tabulate_prompts(dataset).splitlines()
    assert head == "|  | p1 | p2 | p3 |"
    labels = {"mscinli/hardware": SCIENCE, "spacenli": SPACE, "bionli": BIO}[dataset]
    cells = question.split(" | ")[1:]
    for form, cell in zip(FORMS, cells, strict=True):
        prompt = get_prompt(form, labels)
        shown = prompt.question("{premise}", "{hypothesis}")
        assert cell.removesuffix(" |").replace("<br>", "\n") == shown
        assert all(f"{prompt.reply(label)} ({label})" in answers for label in labels)


# --- shots -----------------------------------------------------------------------------------


def pool(n=200, labels=SCIENCE):
    return pa.table(
        {
            "id": [f"row_{number}" for number in range(n)],
            "premise": [f"P {number}" for number in range(n)],
            "hypothesis": [f"H {number}" for number in range(n)],
            "label": [number % len(labels) for number in range(n)],
        }
    )


def test_one_exemplar_of_each_class_in_the_order_of_the_labels():
    shots = draw_exemplars(pool(), SCIENCE, seed=1)
    assert tuple(shot.label for shot in shots) == SCIENCE
    for shot in shots:
        number = int(shot.id.removeprefix("row_"))
        assert (shot.premise, shot.hypothesis) == (f"P {number}", f"H {number}")
        assert SCIENCE[number % 4] == shot.label


def test_the_draw_depends_on_seed_and_ids_alone():
    rows = pool()
    shots = draw_exemplars(rows, SCIENCE, seed=1)
    assert draw_exemplars(rows.take(pa.array(range(199, -1, -1))), SCIENCE, seed=1) == shots
    assert draw_exemplars(rows, SCIENCE, seed=2) != shots
    others = rows.filter(pa.compute.not_equal(rows["label"], 0))
    kept = pa.concat_tables([others, rows.filter(pa.compute.equal(rows["id"], shots[0].id))])
    assert draw_exemplars(kept, SCIENCE, seed=1) == shots


def test_excluded_rows_are_not_drawn():
    first = draw_exemplars(pool(), SCIENCE, seed=1)
    excluded = {shot.id for shot in first[:2]}
    second = draw_exemplars(pool(), SCIENCE, seed=1, exclude_ids=excluded)
    assert not excluded & {shot.id for shot in second}
    assert second[2:] == first[2:]
    with pytest.raises(UsageError, match="no exemplar of reasoning"):
        draw_exemplars(pool(8), SCIENCE, seed=1, exclude_ids=["row_1", "row_5"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop_columns("premise"), "lacks the columns premise"),
        (lambda rows: pa.concat_tables([rows, rows]), "more than once"),
        (lambda rows: rows.set_column(3, "label", pa.array(["a"] * 8)), "expected ids"),
        (lambda rows: rows.set_column(3, "label", pa.array([0, 1, 2, 4] * 2)), r"label ids \[4\]"),
        (
            lambda rows: rows.set_column(3, "label", pa.array([0, 1, -1, 3] * 2)),
            r"label ids \[-1\]",
        ),
        (lambda rows: rows.set_column(3, "label", pa.array([0, 1, 2, None] * 2)), "2 rows have no"),
        (lambda rows: rows.set_column(1, "premise", pa.array([None] + ["P"] * 7)), "1 rows have"),
    ],
)
def test_a_malformed_pool_is_refused(change, message):
    with pytest.raises(SchemaError, match=message):
        draw_exemplars(change(pool(8)), SCIENCE, seed=1)


# --- answers ---------------------------------------------------------------------------------

P1, P3 = get_prompt("p1", SCIENCE), get_prompt("p3", SCIENCE)
S1, B1, B3 = get_prompt("p1", SPACE), get_prompt("p1", BIO), get_prompt("p3", BIO)
EMPTY, NONE, SEVERAL = REASONS
WORDING = P3.options[1].wording  # reasoning

READ = [
    # by number, name or both
    (P1, "2", "reasoning"),
    (P1, " 2.\n", "reasoning"),
    (P1, "2)", "reasoning"),
    (P1, "(2)", "reasoning"),
    (P1, "[2]", "reasoning"),
    (P1, "2. Reasoning", "reasoning"),
    (P1, "2.Reasoning.", "reasoning"),
    (P1, "2 Reasoning", "reasoning"),
    (P1, "2 - Reasoning", "reasoning"),
    (P1, "2 (Reasoning)", "reasoning"),
    (P1, "2: it gives the cause", "reasoning"),
    (P1, "2, because the first gives the cause", "reasoning"),
    (P1, "NEUTRAL", "neutral"),
    (P1, "_Neutral_", "neutral"),
    (P1, "'Neutral'", "neutral"),
    (P1, "**3. Contrasting**", "contrasting"),
    (P1, "- **Answer:** 3", "contrasting"),
    (P1, '{"answer": "3"}', "contrasting"),
    (P1, '{"label": "Contrasting"}', "contrasting"),
    (P1, "The correct answer is 3 because of the cost.", "contrasting"),
    (P1, "I choose option 3.", "contrasting"),
    (P1, "The relation is neutral.", "neutral"),
    (P1, "Reasoning", "reasoning"),
    (P1, "2. Reasoning: the first gives the cause.", "reasoning"),
    (P1, "Sentence 2 restates Sentence 1: entailment", "entailment"),
    (P1, "1. Entailment\n\nSentence 2 says the same as Sentence 1 of", "entailment"),
    (P1, "Neutral. The two do not bear on each other; they are not", "neutral"),
    (P1, "They do not overlap. Neutral", "neutral"),
    (P1, "Sentence 2 does not follow from Sentence 1. The relation is neutral.", "neutral"),
    (P1, "They bear on each other in no way.\n\nNeutral", "neutral"),
    (P1, "<think>Is it entailment? Or neutral?</think>\n\n2. Reasoning", "reasoning"),
    (P1, "is it entailment? or neutral?</think>2", "reasoning"),
    (P1, "<think>\n\n</think>\n\n4", "neutral"),
    # by letter
    (P3, "b", "reasoning"),
    (P3, "B", "reasoning"),
    (P3, "b.", "reasoning"),
    (P3, "(b)", "reasoning"),
    (P3, "(B) Sentence 1 tells why Sentence 2 holds", "reasoning"),
    (P3, "b) Sentence 1 tells why", "reasoning"),
    (P3, "Answer: b", "reasoning"),
    (P3, "The answer is (b).", "reasoning"),
    (P3, "The answer is (b) because of the cause", "reasoning"),
    (P3, "Option b describes them.", "reasoning"),
    (P3, "Option a describes them.", "entailment"),
    (P3, "The correct option is A.", "entailment"),
    (P3, WORDING, "reasoning"),
    (P3, f"({'b'}) {WORDING}.", "reasoning"),
    (P3, WORDING.upper().replace(" ", "\n", 3), "reasoning"),
    (P3, "Reasoning", "reasoning"),
    (P3, P3.options[3].wording, "neutral"),  # which says "no" itself
    # two labels, one of which ends like the other
    (B1, "Entailment", "entailment"),
    (B1, "1. Entailment", "entailment"),
    (B1, "Not entailment", "not_entailment"),
    (B1, "not_entailment", "not_entailment"),
    (B1, "NOT-ENTAILMENT", "not_entailment"),
    (B1, "2. Not\nentailment", "not_entailment"),
    (B1, "2", "not_entailment"),
    (B1, "2. Not entailment (not_entailment)", "not_entailment"),
    (B1, "Not entailment: the premise does not say so.", "not_entailment"),
    (B3, "(b)", "not_entailment"),
    (B3, B3.options[1].wording, "not_entailment"),  # which is denied itself
]

UNREAD = [
    (P1, "", EMPTY),
    (P1, " \n\t", EMPTY),
    (P1, "**", EMPTY),
    (P1, "<think>It may be entailment, since", EMPTY),
    (P1, "I cannot say.", NONE),
    (P1, "None of these.", NONE),
    (P1, "5", NONE),
    (P1, "0.", NONE),
    (P1, "2 of the sentences say so", NONE),
    (P1, "1.5", NONE),
    (P1, "Answer: 1.5 times", NONE),
    (P1, "1,5 times", NONE),
    (P1, "1-2 sentences", NONE),
    (P1, "Sentence 1 and Sentence 2 say the same.", NONE),
    (P1, "1. Sentence 1 describes a method that", NONE),
    (P1, "Equation (1) holds.", NONE),
    (P1, "Statement 1 explains the other.", NONE),
    (P1, "(b)", NONE),
    (P1, "The relation entails that", NONE),
    (P1, "Neutrality", NONE),
    (P1, "2. Neutralise", NONE),
    (P1, "Reasoning: Sentence 1 says that", NONE),
    (P1, "My reasoning is this", NONE),
    # lists of options, and several of them
    (P1, "Entailment, Reasoning, Contrasting, Neutral", SEVERAL),
    (P1, "1. Entailment\n2. Reasoning\n3. Contrasting\n4. Neutral", SEVERAL),
    (P1, "1. Entailment 2. Reasoning", SEVERAL),
    (P1, "1 or 2", SEVERAL),
    (P1, "1, 2", SEVERAL),
    (P1, "Answer: 1/2", SEVERAL),
    (P1, "Options 1 and 2: option 1, option 2", SEVERAL),
    (P1, "2. Neutral", SEVERAL),
    (P1, "2 (Neutral)", SEVERAL),
    (P1, "2 Neutral", SEVERAL),
    (P1, "7. Neutral", SEVERAL),
    (P1, "Either entailment or neutral", SEVERAL),
    (P1, "Entailment\n\nReasoning: both say the same", SEVERAL),
    (P1, "2\n\n4. Neutral", SEVERAL),
    (P1, "Neutral, as (2) does not hold", SEVERAL),
    (P1, get_prompt("p1", SCIENCE).question("P", "H"), SEVERAL),
    (P3, get_prompt("p3", SCIENCE).question("P", "H"), SEVERAL),
    (P3, "(a) or (b)", SEVERAL),
    (P3, "a or b", SEVERAL),
    (P3, "(a), since (b) does not hold", SEVERAL),
    (P3, f"(a) {WORDING}", SEVERAL),
    # articles are no letters
    (P3, "A relation of cause", NONE),
    (P3, "The answer is a relation of cause", NONE),
    (P3, "The class is a weak one", NONE),
    (P3, "A: the first tells why", NONE),
    (P3, "As sentence(s) say", NONE),
    (P3, "(e)", NONE),
    (P3, "2", NONE),
    # denied
    (S1, "not entailment", NONE),
    (S1, "It is not entailment.", NONE),
    (S1, "It is not, in my view, entailment.", NONE),
    (S1, "It isn't entailment", NONE),
    (S1, "It isn\u2019t entailment", NONE),
    (S1, "It is not\nentailment", NONE),
    (S1, "It is not, e.g. entailment", NONE),
    (S1, "not_entailment", NONE),
    (S1, "non-entailment", NONE),
    (S1, "No entailment.", NONE),
    (S1, "Entailment is not given.", NONE),
    (S1, "Entailment does not hold.", NONE),
    (S1, "Entailment? No.", NONE),
    (S1, "Entailment: false", NONE),
    (S1, "Entailment is clearly wrong", NONE),
    (S1, "I would rule out anything but not say entailment", NONE),
    (S1, "It is not entailment but contradiction", SEVERAL),
    (S1, "neither entailment nor contradiction", SEVERAL),
    (S1, "The answer is not 2.", NONE),
    (S1, "It is not 2. Neutral", NONE),
    (S1, "I'm not sure, but 2. Neutral", NONE),
    (S1, "not option 2", NONE),
    (S1, "Option 2 is wrong.", NONE),
    (P3, f"It is not true that {WORDING}", NONE),
    (B1, "It is not an entailment.", NONE),
    (B1, "There is no entailment.", NONE),
    (B1, "Entailment is not given", NONE),
    (B1, "It is hardly not entailment", NONE),
    (B1, "entailment or not entailment", SEVERAL),
    (B1, "Not entailment / Entailment", SEVERAL),
    (B1, "1. Not entailment", SEVERAL),
    (B1, "2. Entailment", SEVERAL),
    (B1, "not_entailment, entailment", SEVERAL),
]


@pytest.mark.parametrize(("prompt", "text", "label"), READ)
def test_answers_that_name_one_option(prompt, text, label):
    reading = read_answer(text, prompt)
    assert (prompt.labels[reading.label] if reading.label is not None else reading) == label
    assert reading.reason is None
    assert read_answer(text, prompt).label == reading.label


@pytest.mark.parametrize(("prompt", "text", "reason"), UNREAD)
def test_answers_that_name_none_or_several(prompt, text, reason):
    assert read_answer(text, prompt) == Reading(None, reason)


def test_a_name_that_begins_another_is_told_from_it():
    options = (
        PromptOption("mixed", "1", "Mixed", "1"),
        PromptOption("mixed_up", "2", "Mixed up", "2"),
    )
    prompt = Prompt("own", "$premise $hypothesis", options, ("mixed", "mixed_up"))
    assert [read_answer(text, prompt).label for text in ("mixed", "Mixed up", "1. mixed up")] == [
        0,
        1,
        None,
    ]


def test_case_and_emphasis_do_not_matter():
    for prompt, text, label in READ:
        for changed in (text.upper(), text.lower(), f"**{text}**"):
            if "think>" not in text:
                assert read_answer(changed, prompt).label == prompt.labels.index(label), changed


def test_reasons_add_up():
    reasons = [read_answer(text, prompt).reason for prompt, text, _ in READ + UNREAD]
    counts = count_reasons(reasons)
    assert list(counts) == ["read", *REASONS]
    assert sum(counts.values()) == len(reasons)
    assert counts["read"] == len(READ)
    assert counts["empty"] == 4
    assert count_reasons([]) == dict.fromkeys(counts, 0)
    with pytest.raises(KeyError):
        count_reasons(["unheard of"])


def test_the_examples_of_the_docstrings_run():
    import doctest

    from nlihub.baselines.systems.prompting import answers

    failed, attempted = doctest.testmod(answers)
    assert (failed, attempted > 0) == (0, True)


def test_a_long_answer_is_read_at_once():
    begun = time.monotonic()
    for text in (
        "no " * 20_000,
        "1 or " * 20_000,
        "(" * 50_000,
        "a, " * 20_000,
        " \n" * 20_000,
        "4. Neutral " * 9_000,
        "answer is " * 9_000,
    ):
        read_answer(text + "x", P1)
        read_answer(text + "x", P3)
    assert time.monotonic() - begun < 20


# --- asking ----------------------------------------------------------------------------------


class Oracle:
    """Answers by rule, in an order of its own, and breaks off after some answers if told to."""

    def __init__(self, n_answers=None, model="oracle"):
        self.settings = {"model": model}
        self.n_answers = n_answers
        self.asked = []

    def answers(self, questions):
        for number, question in enumerate(reversed(questions)):
            if number == self.n_answers:
                raise RuntimeError("broken off")
            self.asked.append(question.id)
            yield Answer(question.id, rule(question.messages))


def rule(turns):
    """What stands after ``SAY`` in the hypothesis, the last of the texts."""
    said = re.findall(r"SAY (.*)", turns[-1]["content"])
    return said[-1].replace("|", "\n")


SAID = [
    "2. Reasoning",
    "Neutral",
    "1 or 2",
    "",
    "It is not neutral",
    "3",
    "Zürich 2 \U0001f600",
    "4.",
]
EXPECTED = ["reasoning", "neutral", None, None, None, "contrasting", None, "neutral"]


def asked_rows(said=SAID):
    return pa.table(
        {
            "id": [f"id {number}" for number in range(len(said))],
            "premise": [f'P {number}\n"""\nSAY 1' for number in range(len(said))],
            "hypothesis": [f"H SAY {text}" for text in said],
        }
    )


def run(file, asker=None, rows=None, prompt=P1, shots=()):
    return ask_model(asked_rows() if rows is None else rows, asker or Oracle(), prompt, shots, file)


def lines(file):
    return file.read_text(encoding="utf-8").splitlines()


def test_answers_come_back_in_the_order_of_the_rows(tmp_path):
    table = run(tmp_path / "sub" / "answers.jsonl")
    assert table.column_names == ["id", "prediction", "answer", "reason"]
    assert table["id"].to_pylist() == asked_rows()["id"].to_pylist()
    assert table["prediction"].to_pylist() == EXPECTED
    assert table["answer"].to_pylist() == SAID
    assert table["reason"].to_pylist() == [None, None, SEVERAL, EMPTY, NONE, None, NONE, None]
    assert count_reasons(table["reason"].to_pylist())["read"] == 4
    kept = [json.loads(line) for line in lines(tmp_path / "sub" / "answers.jsonl")]
    assert kept[0]["settings"]["model"] == "oracle"
    assert {line["id"]: line["answer"] for line in kept[1:]} == dict(
        zip(table["id"].to_pylist(), SAID, strict=True)
    )


def test_a_call_goes_on_where_another_broke_off(tmp_path):
    file = tmp_path / "answers.jsonl"
    broken = Oracle(n_answers=3)
    with pytest.raises(RuntimeError, match="broken off"):
        run(file, broken)
    assert len(lines(file)) == 1 + 3
    again = Oracle()
    table = run(file, again)
    assert Counter(broken.asked + again.asked) == Counter(asked_rows()["id"].to_pylist())
    assert table.equals(run(tmp_path / "whole.jsonl"))
    last = Oracle(n_answers=0)
    assert run(file, last).equals(table)
    assert last.asked == []


def test_every_answer_is_in_the_file_before_the_next_comes(tmp_path):
    file = tmp_path / "answers.jsonl"

    class Watching(Oracle):
        def answers(self, questions):
            for number, answer in enumerate(super().answers(questions), start=1):
                yield answer
                assert len(lines(file)) == 1 + number

    run(file, Watching())


def test_a_torn_file_is_gone_on_with_wherever_it_was_cut(tmp_path):
    file = tmp_path / "answers.jsonl"
    whole = run(file)
    content = file.read_bytes()
    for size in range(0, len(content), 7):
        file.write_bytes(content[:size])
        assert run(file).equals(whole), size
        assert sorted(file.read_bytes().splitlines()) == sorted(content.splitlines())


def test_answers_that_are_missing_are_asked_for_and_others_left_alone(tmp_path):
    file = tmp_path / "answers.jsonl"
    rows = asked_rows()
    run(file, rows=rows.slice(0, 3))
    asker = Oracle()
    assert run(file, asker, rows.slice(2)).equals(run(tmp_path / "other", rows=rows.slice(2)))
    assert sorted(asker.asked) == sorted(rows["id"].to_pylist()[3:])
    assert len(lines(file)) == 1 + len(rows)


SHOTS = [Shot("s", "P", "H SAY 1", "neutral")]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"asker": Oracle(model="another")}, "model is 'oracle' there, 'another' here"),
        ({"prompt": get_prompt("p2", SCIENCE)}, "prompt is 'p1' there, 'p2' here"),
        ({"prompt": dataclasses.replace(P1, template=P1.template + "!")}, "template is"),
        ({"shots": SHOTS}, r"shots is \[\] there, \['s'\] here"),
    ],
)
def test_answers_to_other_questions_are_refused(tmp_path, other, message):
    file = tmp_path / "answers.jsonl"
    run(file)
    before = file.read_bytes()
    with pytest.raises(OutputError, match=message):
        run(file, **other)
    assert file.read_bytes() == before


def test_shots_with_other_texts_are_other_shots(tmp_path):
    file = tmp_path / "answers.jsonl"
    run(file, shots=SHOTS)
    run(file, Oracle(n_answers=0), shots=SHOTS)
    with pytest.raises(OutputError, match="shot_turns is"):
        run(file, shots=[dataclasses.replace(SHOTS[0], hypothesis="H SAY 2")])


def test_rows_with_other_texts_are_refused(tmp_path):
    file = tmp_path / "answers.jsonl"
    run(file)
    rows = asked_rows()
    rows = rows.set_column(1, "premise", pa.array(["another"] * len(rows)))
    with pytest.raises(OutputError, match=r"answers.jsonl:2: row id 7 had other texts"):
        run(file, rows=rows)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"my notes", "not a file of answers"),
        (b"my notes\n", "jsonl:1: expected the settings"),
        (b'{"id": 1}\n', "jsonl:1: expected the settings"),
        (b'[1, 2]\n{"torn', "jsonl:1: expected the settings"),
    ],
)
def test_a_file_of_another_kind_is_left_as_it_is(tmp_path, content, message):
    file = tmp_path / "answers.jsonl"
    file.write_bytes(content)
    with pytest.raises(OutputError, match=message):
        run(file)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{}", "jsonl:3: expected a JSON object"),
        (b'{"id": 1, "question": "", "answer": ""}', "jsonl:3: expected a JSON object"),
        (b'{"id": "id 7", "question"', "jsonl:3: expected a JSON object"),
        (b"\xff", "jsonl:3: expected a JSON object"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, message):
    file = tmp_path / "answers.jsonl"
    run(file)
    content = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*content[:2], line, *content[2:]]))
    with pytest.raises(OutputError, match=message):
        run(file)


def test_an_answer_that_is_there_twice_is_named(tmp_path):
    file = tmp_path / "answers.jsonl"
    run(file)
    content = file.read_bytes()
    file.write_bytes(content + content.split(b"\n")[1] + b"\n")
    with pytest.raises(OutputError, match="row id 7 has a second answer"):
        run(file)


def test_two_at_once_are_refused(tmp_path):
    file = tmp_path / "answers.jsonl"

    class Nested(Oracle):
        def answers(self, questions):
            run(file)
            return
            yield

    with pytest.raises(OutputError, match="Another process"):
        run(file, Nested())


def test_half_a_character_becomes_a_question_mark(tmp_path):
    class Torn(Oracle):
        def answers(self, questions):
            for question in questions:
                yield Answer(question.id, "2. Reasoning \ud83d")

    file = tmp_path / "answers.jsonl"
    table = run(file, Torn())
    assert set(table["answer"].to_pylist()) == {"2. Reasoning ?"}
    assert run(file).equals(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop_columns("hypothesis"), "lacks the columns hypothesis"),
        (lambda rows: pa.concat_tables([rows, rows]), "more than once"),
        (lambda rows: rows.set_column(0, "id", pa.array(range(8))), "column id holds int64"),
        (lambda rows: rows.set_column(1, "premise", pa.array([None] + ["P"] * 7)), "no premise"),
    ],
)
def test_malformed_rows_are_refused(tmp_path, change, message):
    with pytest.raises(SchemaError, match=message):
        run(tmp_path / "answers.jsonl", rows=change(asked_rows()))


def test_no_rows_give_no_answers(tmp_path):
    table = run(tmp_path / "answers.jsonl", rows=asked_rows().slice(0, 0))
    assert (len(table), table.column_names[0]) == (0, "id")


# --- a server --------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Speaks the chat interface of OpenAI; answers by rule, after the troubles in its script."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []  # what to do, one entry a request; then answers
        self.seen = []  # headers and body of each request
        self.times = []
        self.delay_s = 0.0
        self.n_now = self.n_most = 0
        self.lock = threading.Lock()
        self.go_on = threading.Event()  # for those that hang

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.seen.append((dict(self.headers), body))
            server.times.append(time.monotonic())
            step = server.script.pop(0) if server.script else None
            server.n_now += 1
            server.n_most = max(server.n_most, server.n_now)
        try:
            if self.path != "/v1/chat/completions":
                self.reply(404, {"detail": "Not Found"})
            elif step is None:
                time.sleep(server.delay_s * (hash(str(body)) % 3))  # not in the order of asking
                self.reply(200, completion(rule(body["messages"])))
            else:
                step(self)
        finally:
            with server.lock:
                server.n_now -= 1

    def reply(self, status, content, **headers):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def completion(text):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}


def fails(status, content=b"", **headers):
    return lambda handler: handler.reply(status, content, **headers)


def hangs(handler):
    handler.server.go_on.wait(60)
    handler.close_connection = True


def drops(handler):
    handler.close_connection = True
    handler.connection.close()


def stops_midway(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


@pytest.fixture
def server(monkeypatch):
    for name in ("NLIHUB_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.go_on.set()
        server.shutdown()
        thread.join()


def client(server, **options):
    defaults = {"first_wait_s": 0.01, "timeout_s": 5.0, "max_attempts": 3}
    return ChatServer(server.url, "tiny", **(defaults | options))


QUESTIONS = [
    PromptQuestion(f"id {number}", chat_messages(P1, "P", f"SAY {text}"))
    for number, text in enumerate(SAID)
]


def answers_of(chat, questions=QUESTIONS):
    return {answer.id: answer.text for answer in chat.answers(questions)}


def test_a_server_is_asked_greedily(server):
    chat = client(server)
    assert answers_of(chat) == {f"id {number}": text for number, text in enumerate(SAID)}
    bodies = [body for _, body in server.seen]
    assert all(body["temperature"] == 0 and body["max_tokens"] == 40 for body in bodies)
    assert all(body["model"] == "tiny" and "seed" not in body for body in bodies)
    contents = sorted(body["messages"][-1]["content"] for body in bodies)
    assert contents == sorted(question.messages[-1]["content"] for question in QUESTIONS)
    assert not any("Authorization" in headers for headers, _ in server.seen)
    assert chat.settings == {"model": "tiny", "temperature": 0, "max_tokens": 40}


def test_fields_can_be_added_and_left_out(server):
    extra = {"max_tokens": None, "max_completion_tokens": 7, "top_k": 1}
    chat = client(server, seed=3, extra=extra)
    answers_of(chat, QUESTIONS[:1])
    body = server.seen[0][1]
    del body["messages"]
    assert body == chat.settings
    assert body == {
        "model": "tiny",
        "temperature": 0,
        "seed": 3,
        "max_completion_tokens": 7,
        "top_k": 1,
    }


@pytest.mark.parametrize("n_concurrent", [1, 3, 8])
def test_the_result_does_not_depend_on_concurrency(server, tmp_path, n_concurrent):
    rows = asked_rows(SAID * 3)
    server.delay_s = 0.02
    table = run(tmp_path / "a", client(server, n_concurrent=n_concurrent), rows)
    assert table.equals(run(tmp_path / "b", rows=rows))
    assert server.n_most == n_concurrent or 1 < server.n_most < n_concurrent


@pytest.mark.parametrize(
    "trouble",
    [
        fails(429, {"error": {"message": "slow down"}}, Retry_After="0"),
        fails(429, b"", Retry_After="not a date"),
        fails(500, b"<html>oops</html>"),
        fails(503, {"error": "loading"}),
        fails(529, b""),
        drops,
        stops_midway,
    ],
)
@pytest.mark.slow
def test_passing_trouble_passes(server, trouble):
    server.script = [trouble] * 2
    assert answers_of(client(server, n_concurrent=1)) == answers_of(client(server))
    assert len(server.seen) == 2 * len(QUESTIONS) + 2
    server.script = [trouble] * 3
    with pytest.raises(ServerError, match="did not answer about row id 0 3 times"):
        answers_of(client(server, n_concurrent=1))


@pytest.mark.parametrize("as_date", [False, True])
@pytest.mark.slow
def test_the_wait_that_the_server_asks_for_is_kept(server, as_date):
    when = datetime.now(UTC) + timedelta(seconds=3)
    header = format_datetime(when, usegmt=True) if as_date else "1"
    server.script = [fails(429, b"", Retry_After=header)]
    answers_of(client(server), QUESTIONS[:1])
    assert server.times[1] - server.times[0] > 0.9


def test_waits_grow_without_retry_after(server):
    server.script = [fails(500)] * 3
    answers_of(client(server, first_wait_s=0.2, max_attempts=4), QUESTIONS[:1])
    waits = [after - before for before, after in zip(server.times, server.times[1:], strict=False)]
    assert all(wait >= 0.1 * 2**number for number, wait in enumerate(waits))


def test_a_silent_server_is_given_up(server):
    server.script = [hangs] * 2
    begun = time.monotonic()
    with pytest.raises(ServerError, match=r"2 times: .*timed out"):
        answers_of(client(server, timeout_s=0.3, max_attempts=2), QUESTIONS[:1])
    assert time.monotonic() - begun < 5
    server.script = [hangs]
    assert answers_of(client(server, timeout_s=0.3), QUESTIONS[:1]) == {"id 0": SAID[0]}


def test_no_server_is_told(server):
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(ServerError, match=rf"127.0.0.1:{port}/v1.*connection is refused"):
        answers_of(client(server, max_attempts=2), QUESTIONS[:1])


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        (400, {"error": {"message": "max_tokens is too large"}}, "400 .*max_tokens is too large"),
        (401, {"error": {"message": "Incorrect key"}}, r"401 .*Incorrect key \(?.*NLIHUB_API_KEY"),
        (403, {"error": "not yours"}, "403 .*not yours"),
        (404, {"error": {"message": "no model tiny"}}, "404 .*no model tiny .*name right"),
        (422, {"detail": [{"loc": ["body"]}]}, "422 .*body"),
        (307, b"", "307 .*sends elsewhere"),
        (200, b"<html>hello</html>", r"expected JSON .*<html>hello"),
        (200, b'{"choices": [{"mess', "expected JSON"),
        (200, b'"2. Reasoning"', "expected JSON"),
        (200, [], "expected JSON"),
        (200, {"choices": []}, "expected JSON"),
        (200, {"choices": [{"message": {"content": 2}}]}, "expected JSON"),
        (200, {"error": {"message": "no credit"}}, "no credit"),
    ],
)
def test_what_will_not_pass_fails_at_once(server, status, content, message):
    server.script = [fails(status, content, Location="http://127.0.0.1:1/")] * 2
    with pytest.raises(ServerError, match=message):
        answers_of(client(server), QUESTIONS[:1])
    assert len(server.seen) == 1


def never_ends(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 40))
    handler.end_headers()
    with contextlib.suppress(OSError):
        while not handler.server.go_on.is_set():
            handler.wfile.write(b"2" * (1 << 20))


def test_an_answer_has_a_size(server):
    server.script = [never_ends]
    with pytest.raises(ServerError, match=r"the answer takes more than 8,388,608 bytes"):
        answers_of(client(server), QUESTIONS[:1])
    assert len(server.seen) == 1


def test_a_wrong_address_fails_at_once(server):
    with pytest.raises(ServerError, match=r"404 .*often in /v1\?"):
        answers_of(dataclasses.replace(client(server), base_url=server.url[:-3]))


def test_no_content_is_an_empty_answer(server):
    server.script = [fails(200, completion(None))]
    assert answers_of(client(server), QUESTIONS[:1]) == {"id 0": ""}


def test_answers_before_a_failure_are_kept(server, tmp_path):
    server.script = [None, None, fails(401, {"error": {"message": "expired"}})]
    server.script[:2] = [lambda handler: handler.reply(200, completion("2"))] * 2
    file = tmp_path / "answers.jsonl"
    with pytest.raises(ServerError, match="expired"):
        run(file, client(server, n_concurrent=1))
    assert len(lines(file)) == 1 + 2
    table = run(file, client(server))
    assert table["answer"].to_pylist() == ["2", "2", *SAID[2:]]


@pytest.mark.parametrize(
    ("names", "sent"),
    [
        ({"NLIHUB_API_KEY": KEY, "OPENAI_API_KEY": "other"}, KEY),
        ({"NLIHUB_API_KEY": "", "OPENAI_API_KEY": KEY}, KEY),
        ({}, None),
    ],
)
def test_the_key_comes_from_the_environment(server, monkeypatch, tmp_path, names, sent):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password wrong\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    answers_of(client(server), QUESTIONS[:1])
    assert server.seen[0][0].get("Authorization") == (sent and f"Bearer {sent}")


def test_the_key_is_shown_nowhere(server, monkeypatch, tmp_path, caplog, capsys):
    monkeypatch.setenv("NLIHUB_API_KEY", KEY)
    caplog.set_level("DEBUG")
    chat = client(server, max_attempts=1)
    run(tmp_path / "answers.jsonl", chat)
    texts = [repr(chat), str(vars(chat)), (tmp_path / "answers.jsonl").read_text()]
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    for trouble in (fails(401, echo), fails(500, KEY.encode()), fails(200, KEY.encode()), drops):
        server.script = [trouble]
        with pytest.raises(ServerError) as caught:
            answers_of(chat, QUESTIONS[:1])
        assert "[the key]" in str(caught.value) or trouble is drops
        texts.append(str(caught.value))
        # Errors of requests hold the request, with its headers.
        assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert all(dict(headers)["Authorization"] == f"Bearer {KEY}" for headers, _ in server.seen)
    texts += [caplog.text, *capsys.readouterr()]
    assert not any(KEY in text for text in texts)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", f"{KEY}é", f"{KEY}\x00"[:-1] + "\t"])
def test_a_key_that_no_header_can_have_is_refused_unseen(server, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match=r"\$OPENAI_API_KEY holds") as caught:
        answers_of(client(server))
    assert KEY not in str(caught.value)
    assert server.seen == []


@pytest.mark.parametrize(
    "url", ["http://me:secret@host/v1", "https://host/v1?key=secret", "http://host/#secret"]
)
def test_an_address_with_a_secret_is_refused_unseen(url):
    with pytest.raises(UsageError, match="NLIHUB_API_KEY") as caught:
        ChatServer(url, "tiny")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "options", "message"),
    [
        ("localhost:8000", {}, "not the address"),
        ("file:///etc/passwd", {}, "not the address"),
        ("http:///v1", {}, "not the address"),
        ("http://h", {"n_concurrent": 0}, "n_concurrent is 0"),
        ("http://h", {"max_attempts": 0}, "max_attempts is 0"),
        ("http://h", {"max_new_tokens": -1}, "max_new_tokens is -1"),
        ("http://h", {"timeout_s": 0}, "timeout_s is 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(url, options, message):
    with pytest.raises(UsageError, match=message):
        ChatServer(url, "tiny", **options)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [hangs, fails(429, b"", Retry_After="50")])
def test_an_interrupt_ends_promptly(server, trouble, tmp_path):
    server.script = [lambda handler: handler.reply(200, completion("2")), *[trouble] * 50]
    code = (
        "import signal, sys, pathlib, pyarrow as pa\n"
        # Where the tests run in the background, programs are started to ignore interrupts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from nlihub.baselines.systems.prompting.ask import ask_model\n"
        "from nlihub.baselines.systems.prompting.prompts import get_prompt\n"
        "from nlihub.baselines.systems.prompting.server import ChatServer\n"
        "texts = [str(number) for number in range(20)]\n"
        "rows = pa.table({'id': texts, 'premise': texts, 'hypothesis': texts})\n"
        "prompt = get_prompt('p1', ['not_entailment', 'entailment'])\n"
        "ask_model(rows, ChatServer(sys.argv[1], 'tiny'), prompt, (), pathlib.Path(sys.argv[2]))\n"
    )
    file = tmp_path / "answers.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", code, server.url, file], stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while len(server.seen) < 9 and time.monotonic() < deadline:
            time.sleep(0.05)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert time.monotonic() - begun < 10
    assert process.returncode == -signal.SIGINT, errors
    assert "KeyboardInterrupt" in errors
    assert len(lines(file)) == 2


def test_a_failure_stops_the_other_questions(server):
    server.script = [fails(401)] * 100
    chat = client(server, n_concurrent=2)
    with pytest.raises(ServerError):
        answers_of(chat, [dataclasses.replace(QUESTIONS[0], id=str(n)) for n in range(100)])
    time.sleep(0.3)
    assert len(server.seen) < 50


# --- a model on this machine -----------------------------------------------------------------

TEMPLATE = (
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
    "<s>{{ message['role'] }} : {{ message['content'] }}</s>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant : {{ start | default('') }}{% endif %}"
)
UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"  # ids 0, 1, 2
TEXTS = ["short", "a somewhat longer text of several words", "and " * 30, "mid " * 9, "x y"]


@pytest.fixture(scope="module")
def libraries():
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch, transformers


@pytest.fixture(scope="module")
def tokenizer(libraries):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE(unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[UNKNOWN, BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([P1.template, P3.template, *TEXTS], trainer)
    return libraries[1].PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token=UNKNOWN, bos_token=BEGIN, eos_token=END
    )


def tiny(libraries, kind, **options):
    torch, transformers = libraries
    torch.manual_seed(7)
    shape = {"vocab_size": 400, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.6}
    if kind == "llama":
        config = transformers.LlamaConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            **({"max_position_embeddings": 2048} | shape | options),
        )
        return transformers.LlamaForCausalLM(config)
    config = transformers.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, n_positions=2048, **(shape | options)
    )
    return transformers.GPT2LMHeadModel(config)


@pytest.fixture(params=["llama", "gpt2"])
def model(request, libraries):
    return tiny(libraries, request.param)


@pytest.fixture(params=["chat", "plain"])
def written(request, tokenizer):
    """The tokenizer, with and without a chat template."""
    tokenizer.chat_template = TEMPLATE if request.param == "chat" else None
    yield tokenizer
    tokenizer.chat_template = None


LOCAL_QUESTIONS = [
    PromptQuestion(f"id {number}", chat_messages(P1, text, text[::-1]))
    for number, text in enumerate(TEXTS)
]


def generate(local, questions=LOCAL_QUESTIONS):
    return [(answer.id, answer.text) for answer in local.answers(questions)]


def test_batches_give_what_one_by_one_gives(model, written, monkeypatch):
    together = LocalModel(model, written, "tiny", batch_size=4, max_new_tokens=12)
    answers = generate(together)
    apart = [generate(together, [question])[0] for question in LOCAL_QUESTIONS]
    assert sorted(answers) == sorted(apart)
    assert generate(LocalModel(model, written, "tiny", batch_size=1, max_new_tokens=12)) == answers
    assert len({text for _, text in answers}) > 1  # otherwise nothing was shown
    # The longest come first.
    assert answers[0][0] == "id 2"

    # Seen to fail: without its mask, padding is read as text.
    plain = model.generate
    monkeypatch.setattr(
        model, "generate", lambda input_ids, attention_mask: plain(input_ids=input_ids)
    )
    assert sorted(generate(together)) != sorted(apart)


def test_answers_are_those_of_plain_greedy_decoding(libraries, model, tokenizer):
    torch, transformers = libraries
    # What a model is published with must not matter.
    model.generation_config = transformers.GenerationConfig(
        do_sample=True, temperature=5.0, repetition_penalty=3.0, eos_token_id=[2], max_length=5
    )
    local = LocalModel(model, tokenizer, "tiny", max_new_tokens=9)
    question = LOCAL_QUESTIONS[0]
    text = f"{HEADINGS['user']}\n{question.messages[0]['content']}\n\n{HEADINGS['assistant']}\n"
    ids = tokenizer(text)["input_ids"]
    start = len(ids)
    for _ in range(9):
        with torch.inference_mode():
            best = int(model(torch.tensor([ids])).logits[0, -1].argmax())
        if best == 2:
            break
        ids.append(best)
    expected = tokenizer.decode(ids[start:], skip_special_tokens=True)
    assert generate(local, [question]) == [("id 0", expected)]


class Scripted:
    """Stands for ``generate``: it writes given ids after whatever was asked, and keeps what was."""

    def __init__(self, torch, *ids):
        self.torch, self.ids, self.asked = torch, ids, []

    def __call__(self, input_ids, attention_mask):
        self.asked += [
            row[mask.bool()].tolist() for row, mask in zip(input_ids, attention_mask, strict=True)
        ]
        new = self.torch.tensor([self.ids]).expand(len(input_ids), -1)
        return self.torch.cat([input_ids, new], dim=1)


def scripted(libraries, tokenizer, text, **options):
    model = tiny(libraries, "llama")
    model.generate = Scripted(libraries[0], *tokenizer(text)["input_ids"])
    return LocalModel(model, tokenizer, "tiny", **options), model.generate


@pytest.fixture
def framing(tokenizer):
    """Makes the tokenizer add tokens to every text, as many do."""
    from tokenizers.processors import TemplateProcessing

    def frame(single):
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
            single=single, special_tokens=[(BEGIN, 1), (END, 2)]
        )

    yield frame
    frame("$A")


def test_a_chat_is_written_by_the_template(libraries, tokenizer, framing):
    tokenizer.chat_template = TEMPLATE
    framing("<s> $A")
    try:
        local, asked = scripted(
            libraries, tokenizer, "2. Reasoning</s>1", template_options={"start": "so"}
        )
        chat = chat_messages(P1, "P", "H", [Shot("s", "A", "B", "neutral")])
        assert generate(local, [PromptQuestion("x", chat)]) == [("x", "2. Reasoning")]
        text = tokenizer.decode(asked.asked[0])
        assert text == (
            f"<s>user : {chat[0]['content']}</s><s>assistant : 4. Neutral</s>"
            f"<s>user : {chat[2]['content']}</s><s>assistant : so"
        )
        assert asked.asked[0].count(1) == 4  # special tokens are written once, and as such
        assert local.settings["chat_template"] is True
        with pytest.raises(ModelError, match="chat template of tiny fails: no system turn"):
            generate(local, [PromptQuestion("x", [{"role": "system", "content": "S"}])])
    finally:
        tokenizer.chat_template = None


def test_without_a_template_an_answer_ends_at_the_next_question(libraries, tokenizer):
    local, asked = scripted(libraries, tokenizer, f"2. Reasoning\n\n{HEADINGS['user']}\nAnswer: 3")
    chat = chat_messages(P1, "P", "H", [Shot("s", "A", "B", "neutral")])
    ((_, text),) = generate(local, [PromptQuestion("x", chat)])
    assert text == "2. Reasoning\n\n"
    assert tokenizer.decode(asked.asked[0]) == (
        f"### Question\n{chat[0]['content']}\n\n### Answer\n4. Neutral\n\n"
        f"### Question\n{chat[2]['content']}\n\n### Answer\n"
    )


def test_a_tokenizer_that_closes_every_text_is_kept_from_it(libraries, tokenizer, framing):
    local, asked = scripted(libraries, tokenizer, "2")
    framing("<s> $A </s>")
    generate(local)
    assert {ids[0] for ids in asked.asked} == {1}
    assert not any(2 in ids for ids in asked.asked)


def test_a_tokenizer_without_padding_says_so(libraries, tokenizer, caplog):
    model = tiny(libraries, "llama")
    LocalModel(model, tokenizer, "tiny")
    assert "tiny has no padding token; its end token fills up" in caplog.text
    assert model.generation_config.pad_token_id == 2

    class Endless:
        pad_token_id = eos_token_id = chat_template = None

    model.generation_config.eos_token_id = None
    with pytest.raises(ModelError, match="neither a padding token nor an end token"):
        LocalModel(model, Endless(), "tiny")


def test_a_chat_that_cannot_be_written_is_refused(libraries, tokenizer):
    model = tiny(libraries, "llama")
    with pytest.raises(UsageError, match="tiny has no chat template"):
        LocalModel(model, tokenizer, "tiny", template_options={"enable_thinking": False})
    kind = type("MistralCommonBackend", (), {"eos_token_id": 2, "chat_template": None})
    with pytest.raises(ModelError, match="comes from mistral-common"):
        LocalModel(model, kind(), "tiny")


def test_a_question_that_is_too_long_names_its_row(libraries, tokenizer):
    n_tokens = [
        len(tokenizer(f"### Question\n{q.messages[0]['content']}\n\n### Answer\n")["input_ids"])
        for q in LOCAL_QUESTIONS
    ]
    limit = max(n_tokens) + 5
    for options in ({"max_position_embeddings": limit}, {"max_position_embeddings": limit - 1}):
        model = tiny(libraries, "llama", **options)
        local = LocalModel(model, tokenizer, "tiny", max_new_tokens=5)
        if options["max_position_embeddings"] == limit:
            assert len(generate(local)) == 5
            continue
        message = (
            rf"1 of 5 questions are too long for tiny. The question about row id 2 has "
            rf"{max(n_tokens)} tokens, and its answer may have 5; "
            rf"the model allows {limit - 1} together"
        )
        with pytest.raises(ModelError, match=message):
            generate(local)


def test_a_model_is_loaded_from_a_folder_and_asked(libraries, tokenizer, tmp_path):
    model = tiny(libraries, "llama")
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    local = LocalModel.load(str(tmp_path / "model"), device="cpu", max_new_tokens=6)
    assert local.settings["dtype"] == "torch.float32"
    assert local.settings["max_new_tokens"] == 6
    assert local.settings["chat_template"] is False
    table = run(tmp_path / "answers.jsonl", local)
    expected = dict(generate(LocalModel(model, tokenizer, "t", max_new_tokens=6), questions()))
    assert dict(zip(table["id"].to_pylist(), table["answer"].to_pylist(), strict=True)) == expected
    with pytest.raises(ModelError, match="nothing cannot be loaded as a language model"):
        LocalModel.load(str(tmp_path / "nothing"))


def questions():
    columns = asked_rows().to_pydict()
    return [
        PromptQuestion(id_, chat_messages(P1, premise, hypothesis))
        for id_, premise, hypothesis in zip(*columns.values(), strict=True)
    ]


def test_no_questions_give_no_answers(libraries, tokenizer):
    assert generate(LocalModel(tiny(libraries, "gpt2"), tokenizer, "tiny"), []) == []


@pytest.mark.parametrize("option", ["max_new_tokens", "batch_size", "max_batch_tokens"])
def test_numbers_below_one_are_refused(option):
    with pytest.raises(UsageError, match="expected 1 or more"):
        LocalModel(None, None, "tiny", **{option: 0})


def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"torch, which is not .*nlihub\[baselines\]"):
        LocalModel.load("nowhere")


def test_importing_needs_no_model_library():
    code = (
        "import sys\n"
        "from nlihub.baselines.systems.prompting import answers, ask, local, prompts, server\n"
        "sys.exit(str({'torch', 'transformers', 'jinja2'} & set(sys.modules) or 0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.strip() in ("", "0")
    assert issubclass(ServerError, NLIHubError)
