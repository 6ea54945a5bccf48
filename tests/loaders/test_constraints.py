import pytest
from nlihub.loaders.corpora.patterns.constraints import parse_constraint, parse_restrictions
from nlihub.loaders.corpora.patterns.records import (
    AllOf,
    AnyOf,
    Equal,
    Holds,
    Literal,
    MiniWorld,
    Not,
    Restriction,
    Variable,
    WorldRelation,
)

CITY = WorldRelation("city_pn", 1, ((frozenset({"Oslo"}),),))
WALK = WorldRelation("walk_v2", 2, ((frozenset({"fox"}), frozenset({"barn"})),))
WORLD = MiniWorld({r.name: r for r in (CITY, WALK, WorldRelation("walk_p2", 2, WALK.products))})
A, B = Variable("NP1"), Variable("NP2")
NAMES = ("NP1", "NP2", "immediately_r_01")


def parse(text):
    return parse_constraint(text, NAMES, WORLD)


def test_accepted_forms():
    a_is_b, b_is_x = Equal(A, B), Equal(B, Literal("x"))
    for text, expected in (
        ("not (NP1 == NP2)", Not(a_is_b)),
        ("'the  fox' == NP1", Equal(Literal("the  fox"), A)),
        ("NP1 != NP2 != 'x'", AllOf((Not(a_is_b), Not(b_is_x)))),
        ('NP2 in ["x", NP1]', AnyOf((b_is_x, Equal(B, A)))),
        ('NP2 not in ["x"]', Not(AnyOf((b_is_x,)))),
        ("diff_values([NP1, NP2])", AllOf((Not(a_is_b),))),
        ("(NP1,NP2) in sig['walk_v2']", Holds(WALK, (A, B))),
        ("(NP1,) not in sig['city_pn']", Not(Holds(CITY, (A,)))),
        (
            "list_is_subset([(NP1,),(NP2,)], sig['city_pn'])",
            AllOf((Holds(CITY, (A,)), Holds(CITY, (B,)))),
        ),
        ("NP1 == NP2 and \\\n\t( NP1 != NP2 )", AllOf((a_is_b, Not(a_is_b)))),
        ("NP1 == NP2 or NP1 != NP2 and NP2 == 'x'", AnyOf((a_is_b, AllOf((Not(a_is_b), b_is_x))))),
        ("immediately_r_01 == 'now'", Equal(Variable("immediately_r_01"), Literal("now"))),
    ):
        assert parse(text) == expected


def test_everything_else_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text, expected in (
        ("__import__('os').system('touch pwned')", "is not allowed"),
        ("NP1.__class__ == NP2", "is not allowed"),
        ("(lambda: 1)() == NP1", "is not allowed"),
        ("NP1 == f'{NP2}'", "is not allowed"),
        ("NP1 in sig[NP2]", "is not allowed"),
        ("NP1 in other['city_pn']", "is not allowed"),
        ("NP1 < NP2", "is not allowed"),
        ("NP1", "is not allowed"),
        ("diff_values([NP1], key=NP2)", "is not allowed"),
        ("diff_values(*[NP1])", "is not allowed"),
        ("NP3 == NP1", "names 'NP3', which the pattern does not have"),
        ("NP1 in sig['city_pn']", "is not a tuple of variables"),
        ("(NP1,NP2) in sig['city_pn']", "city_pn takes 1 arguments"),
        ("(NP1,) in sig['town_pn']", "unknown relation 'town_pn'"),
        ("'a' == 'b'", "compares two strings"),
        ("NP1 == '\0'", "cannot be parsed"),
        ("(" * 300 + "NP1" + ")" * 300, "cannot be parsed"),
        ("not " * 100 + "NP1 == NP2", "nested more than 50 levels deep"),
        ("NP1 == NP2 # or not\nand NP1 != NP2", "has a '#'"),
        ("not " * 600 + "NP1 == NP2", "longer than 2000 characters"),
    ):
        with pytest.raises(ValueError, match=expected):
            parse(text)
    assert not (tmp_path / "pwned").exists()


def test_restrictions():
    found, problems = parse_restrictions(" city(NP1);walk_v(NP1, NP2) ; city( NP1 );\n", WORLD)
    assert found == [Restriction(CITY, ("NP1",))]
    assert problems == ["unknown predicate walk_v/2 in 'walk_v(NP1, NP2)'; did you mean 'walk'?"]
    # The official bank has one parenthesis too many.
    assert parse_restrictions("city(NP1))", WORLD) == (found, [])
    for text, expected in (
        ("walk(NP1,NP2)", "predicate walk/2 is ambiguous: walk_v2, walk_p2"),
        ("city(the fox)", "'the fox' is not a variable"),
        ("city(NP1) walk(NP1)", "is not of the form name(NP1,NP2)"),
        ("city(NP1,NP2)", "unknown predicate city/2"),
    ):
        assert expected in parse_restrictions(text, WORLD)[1][0]
