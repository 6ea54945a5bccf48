"""Negatives that a model writes: its task, its folds, what is kept and why not."""

import doctest
import subprocess
import sys
from dataclasses import replace

import pytest
from nlihub.builders.procedures.abstracts.generate import generate as similarity
from nlihub.builders.procedures.abstracts.generate import task
from nlihub.builders.procedures.abstracts.generate.generate import TokenF1, without_markers
from nlihub.builders.procedures.abstracts.generate.sentence_kinds import (
    BROKEN_CONSTRAINT,
    KINDS,
    MALFORMED,
    MISSING,
    NO_RELATION,
    RIGHT_RELATION,
    UNTOLD_POLARITY,
    Asked,
)
from nlihub.builders.procedures.abstracts.generate.settings import (
    GenerationSettings,
    TrainingSettings,
)
from nlihub.builders.procedures.abstracts.generate.task import (
    Written,
    read_output,
    write_input,
    write_output,
)
from nlihub.builders.procedures.abstracts.perturb.replace_entities import NO_TYPE, ReplaceInside
from nlihub.builders.procedures.abstracts.perturb.strategy import Choices, NoNegative
from nlihub.builders.procedures.abstracts.perturb.swap_entities import SAME_NAME, SYMMETRIC
from nlihub.loaders.errors import UnknownNameError, UsageError
from perturb_samples import mechanism_of

MECHANISM = replace(
    mechanism_of(
        "We conclude that <re> foxin <er> blocks <el> henase <le>.",
        "gg",
        ["{g:goosin} was given.", "{g:foxin} fell."],
        pmid="7",
    ),
    polarity="negative",
)


def test_the_form_of_the_task():
    assert write_input(MECHANISM) == (
        "<re> foxin <er> <el> henase <le> <exp> goosin was given. foxin fell."
    )
    assert write_output(MECHANISM) == (
        "negative <exp> We conclude that <re> foxin <er> blocks <el> henase <le>."
    )
    assert write_output(replace(MECHANISM, polarity=None)).startswith("unknown <exp> We")


def test_outputs_are_read_back():
    assert read_output(write_output(MECHANISM)) == Written("negative", MECHANISM.conclusion)
    assert read_output("unknown <exp> A.") == Written(None, "A.")
    assert read_output("by<re> A <er>and (<el> B <le>)").sentence == (
        "by <re> A <er> and (<el> B <le>)"
    )
    assert read_output("positive is <re>  A<er> it") == Written(None, "positive is <re> A<er> it")


# ---- What is asked for, and what is a negative.


def ask(name, mechanism=MECHANISM):
    return KINDS[name].ask(mechanism, Choices(0, mechanism.pmid, name))


def judge(name, sentence, polarity=None, mechanism=MECHANISM):
    found = KINDS[name].judge(Written(polarity, sentence), mechanism, ask(name, mechanism))
    return found.reason if isinstance(found, NoNegative) else ""


def test_what_each_kind_asks_for():
    assert ask("GEN") == Asked()
    assert ask("GEN-ND-SEN").required == ("<re> henase <er>", "<el> foxin <le>")
    assert ask("GEN-ND-SRE").names in (("goosin", "henase"), ("foxin", "goosin"))
    assert ask("GEN-ND-NG") == Asked(forbidden=("<re> foxin <er>", "<el> henase <le>"))


def test_what_cannot_be_asked_for():
    same = replace(MECHANISM, regulated="Foxin")
    assert ask("GEN-ND-SEN", same) == ask("GEN", same) == NoNegative(SAME_NAME)
    assert ask("GEN-ND-SRE", replace(MECHANISM, mentions=())) == NoNegative(ReplaceInside.otherwise)
    untyped = replace(MECHANISM, regulator_type=None, regulated_type=None)
    assert ask("GEN-ND-SRE", untyped) == NoNegative(NO_TYPE)


SWAPPED = "So <re> henase <er> blocks <el> foxin <le>."
KEPT = "So <re> Foxin <er> raises <el> henase <le>."
OTHER = "So <re> goosin <er> blocks <el> henin <le>."


@pytest.mark.parametrize(
    ("name", "sentence", "polarity", "reason"),
    [
        ("GEN", SWAPPED, "negative", ""),
        ("GEN", SWAPPED, None, ""),
        ("GEN", KEPT, "positive", ""),
        ("GEN", KEPT, "negative", RIGHT_RELATION),
        ("GEN", KEPT, None, NO_RELATION),
        ("GEN", OTHER, "positive", MISSING),
        ("GEN", "So <re> henase <er> and <el> foxin <le> rise.", "negative", SYMMETRIC),
        ("GEN", "So foxin raises <el> henase <le>.", "positive", MALFORMED),
        ("GEN", KEPT + KEPT, "positive", MALFORMED),
        ("GEN-ND-SEN", SWAPPED, None, ""),
        ("GEN-ND-SEN", KEPT, None, MISSING),
        ("GEN-ND-SEN", "So <re> henase <er> and <el> foxin <le> rise.", None, SYMMETRIC),
        ("GEN-ND-SEN", "So <re> henase <er> <el> foxin", None, MALFORMED),
        ("GEN-ND-SRE", KEPT, None, MISSING),
        ("GEN-ND-NG", OTHER, None, ""),
        ("GEN-ND-NG", SWAPPED, None, ""),
        ("GEN-ND-NG", KEPT, None, BROKEN_CONSTRAINT),
        ("GEN-ND-NG", "So they rise.", None, MALFORMED),
        ("GEN-ND-SEN", "So <re> henase <er><el> foxin <le>.", None, MALFORMED),
    ],
)
def test_what_is_a_negative(name, sentence, polarity, reason):
    assert judge(name, sentence, polarity) == reason
    assert reason in ("", MALFORMED, *KINDS[name].others)


def test_where_polarity_is_not_told_only_exchanged_roles_are_wrong():
    untold = replace(MECHANISM, polarity=None)
    assert judge("GEN", KEPT, "positive", untold) == UNTOLD_POLARITY
    assert judge("GEN", SWAPPED, "positive", untold) == ""


def test_a_replaced_entity_is_one_that_was_drawn():
    names = ask("GEN-ND-SRE").names
    assert judge("GEN-ND-SRE", f"So <re> {names[0]} <er> blocks <el> {names[1]} <le>.") == ""


# ---- How alike sentences are.


def test_token_f1():
    score = TokenF1().score
    assert score(["A b."], ["a B ."]) == [1.0]
    assert score(["one"], ["two"]) == [0.0]
    assert score(["a a b"], ["a c"]) == pytest.approx([2 / 5])
    assert without_markers("<re> A <er>-induced <el> B <le>.") == "A -induced B ."


# ---- Settings.


@pytest.mark.parametrize(
    "wrong", [{"kinds": ()}, {"kinds": ("GEN", "GEN")}, {"n_folds": 1}, {"batch_size": 0}]
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(UsageError, match="expected"):
        GenerationSettings(**wrong)


def test_unknown_kinds_are_named():
    with pytest.raises(UnknownNameError, match="GEN-ND-SEN"):
        GenerationSettings(kinds=("GEN-ND-SEM",))
    with pytest.raises(UsageError, match="expected counts"):
        TrainingSettings(n_epochs=0)


def test_examples_in_docstrings():
    for module in (task, similarity):
        failed, attempted = doctest.testmod(module)
        assert (failed, attempted > 0) == (0, True)


def test_names_import_no_heavy_library():
    code = (
        "import sys\n"
        "from nlihub.builders.procedures.abstracts.generate import generate\n"
        "from nlihub.builders.procedures.abstracts.generate import sentence_kinds\n"
        "from nlihub.builders.procedures.abstracts.generate import settings, task\n"
        "sys.exit(', '.join({'torch', 'transformers', 'tokenizers'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
