"""Reads a mini world: the YAML file of nouns, names and relations (SpaceNLI, section 3.2).

Only the shapes of such a file are accepted: mappings without values as sets, merge keys and
aliases as unions, lists as relations. The YAML is composed to nodes and never constructed, so a
tag cannot create an object, and an alias is resolved once, so no chain of them can blow up.
"""

import re
from pathlib import Path

import yaml

from ..errors import BankError, Problem
from ..records import MiniWorld, Relation

#: The lemmas of the one WordNet 3.0 synset that the official bank uses, in WordNet's order.
WORDNET_LEMMAS = {
    "immediately.r.01": (
        "immediately",
        "instantly",
        "straightaway",
        "straight off",
        "directly",
        "now",
        "right away",
        "at once",
        "forthwith",
        "like a shot",
    )
}

_SET_NAME = re.compile(r"\w+_(n|pn|a)")
_RELATION_NAME = re.compile(r"\w+_\w*?(\d)")
_TAG = "tag:yaml.org,2002:"
_MAX_DEPTH = 50
_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_Product = tuple[frozenset[str], ...]


def read_mini_world(path: Path) -> MiniWorld:
    """Reads a mini world.

    A key that ends in ``_n``, ``_pn`` or ``_a`` is a set of nouns, proper names or adjectives;
    one that ends in a digit N is an N-ary relation, a list of products of sets. The members of
    ``k_NAME`` (a fact of the real world) also belong to ``NAME``, where that exists.

    Args:
        path: The YAML file.

    Returns:
        The world; its lemmas are those of the synset that the official bank uses.

    Raises:
        BankError: Everything in the file that is not of this form, by line.
        FileNotFoundError: There is no such file.

    Source:
        ``config/selection_restriction.yaml`` of SpaceNLI at commit 8c10e94d.
    """
    reader = _Reader(str(path))
    relations = reader.read(path.read_bytes())
    if reader.problems:
        raise BankError(reader.problems)
    return MiniWorld(relations, WORDNET_LEMMAS)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._sets: dict[int, frozenset[str]] = {}
        self._products: dict[tuple[int, int], tuple[_Product, ...]] = {}
        self._open: set[int] = set()  # nodes being read, to notice an alias to itself

    def problem(self, node: yaml.Node | None, where: str, message: str) -> None:
        line = node.start_mark.line + 1 if node is not None and node.start_mark else 0
        self.problems.append(Problem(self.file, line, where, message))

    def read(self, content: bytes) -> dict[str, Relation]:
        try:
            # Depth is checked on the flat stream of events, before anything recursive sees it.
            depth = 0
            for event in yaml.parse(content, Loader=_LOADER):
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
                if depth > _MAX_DEPTH:
                    line = event.start_mark.line + 1 if event.start_mark else 0
                    message = f"nested more than {_MAX_DEPTH} levels deep"
                    self.problems.append(Problem(self.file, line, "", message))
                    return {}
            root = yaml.compose(content, Loader=_LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else 0
            reason = getattr(error, "problem", None) or str(error)
            self.problems.append(Problem(self.file, line, "", f"not valid YAML: {reason}"))
            return {}
        if not isinstance(root, yaml.MappingNode) or root.tag != _TAG + "map":
            self.problem(root, "", "expected a mapping of names to sets and relations")
            return {}
        relations: dict[str, Relation] = {}
        for key, value in root.value:
            name = self.text(key, "")
            if name is None:
                continue
            if name in relations:
                self.problem(key, name, "defined twice")
                continue
            relation = self.relation(name, key, value)
            if relation is not None:
                relations[name] = relation
        for name, fact in list(relations.items()):
            target = relations.get(name.removeprefix("k_"))
            if name.startswith("k_") and target is not None:
                relations[target.name] = Relation(
                    target.name, target.arity, target.products + fact.products
                )
        return relations

    def relation(self, name: str, key: yaml.Node, value: yaml.Node) -> Relation | None:
        if _SET_NAME.fullmatch(name):
            return Relation(name, 1, ((self.members(value, name),),))
        match = _RELATION_NAME.fullmatch(name)
        if match is None or match[1] == "0":
            expected = "expected a name ending in _n, _pn or _a (a set) or in its arity (_v2, _p3)"
            self.problem(key, name, expected)
            return None
        arity = int(match[1])
        products = self.products(value, arity, name)
        if not products:
            self.problem(value, name, "has no members")
        return Relation(name, arity, products)

    def text(self, node: yaml.Node, where: str) -> str | None:
        """A plain text scalar, or None with a problem reported."""
        if not isinstance(node, yaml.ScalarNode) or node.tag != _TAG + "str":
            shown = node.value if isinstance(node, yaml.ScalarNode) else "a collection"
            kind = node.tag.removeprefix(_TAG)
            self.problem(node, where, f"expected text, got {shown!r} of type {kind} (quote it?)")
            return None
        text = str(node.value)
        if not text or text != " ".join(text.split()) or not text.isprintable():
            self.problem(
                node, where, f"{text!r} is empty or has stray blanks or control characters"
            )
            return None
        return text

    def members(self, node: yaml.Node, where: str) -> frozenset[str]:
        """The members of a set: ``{a, b, <<: *OTHER}``."""
        if id(node) in self._sets:
            return self._sets[id(node)]
        if not isinstance(node, yaml.MappingNode) or node.tag != _TAG + "map":
            tag = node.tag.removeprefix(_TAG)
            self.problem(node, where, f"expected a set {{a, b}}, got a value of type {tag}")
            return frozenset()
        if id(node) in self._open:
            self.problem(node, where, "contains itself")
            return frozenset()
        self._open.add(id(node))
        members: set[str] = set()
        for key, value in node.value:
            if key.tag == _TAG + "merge":
                merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for other in merged:
                    members |= self.members(other, where)
                continue
            member = self.text(key, where)
            if value.tag != _TAG + "null":
                self.problem(value, where, f"member {member!r} has a value; a set has only members")
            if member is not None:
                members.add(member)
        self._open.remove(id(node))
        self._sets[id(node)] = frozenset(members)
        return self._sets[id(node)]

    def products(self, node: yaml.Node, arity: int, where: str) -> tuple[_Product, ...]:
        """A list whose items are products of sets, tuples of words, or lists of these by alias."""
        if (id(node), arity) in self._products:
            return self._products[id(node), arity]
        if not isinstance(node, yaml.SequenceNode) or node.tag != _TAG + "seq":
            self.problem(node, where, "expected a list of products of sets")
            return ()
        if id(node) in self._open:
            self.problem(node, where, "contains itself")
            return ()
        self._open.add(id(node))
        found: dict[_Product, None] = {}
        for item in node.value:
            if not isinstance(item, yaml.SequenceNode) or not item.value:
                self.problem(item, where, "expected a list of sets or words")
            elif isinstance(item.value[0], yaml.SequenceNode):
                found.update(dict.fromkeys(self.products(item, arity, where)))
            elif len(item.value) != arity:
                self.problem(item, where, f"expected {arity} arguments, got {len(item.value)}")
            else:
                found[tuple(self.argument(argument, where) for argument in item.value)] = None
        self._open.remove(id(node))
        self._products[id(node), arity] = tuple(found)
        return self._products[id(node), arity]

    def argument(self, node: yaml.Node, where: str) -> frozenset[str]:
        if isinstance(node, yaml.ScalarNode):
            word = self.text(node, where)
            return frozenset() if word is None else frozenset({word})
        return self.members(node, where)
