"""Reads a pattern bank: the XML file of patterns, over a mini world (SpaceNLI, section 3)."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..errors import BankError, Problem, SourceNotFoundError
from ..records import Constraint, MiniWorld, Pattern, PatternBank, Restriction
from .constraints import parse_constraint, parse_restrictions
from .markup import Element, read_xml
from .mini_world import read_mini_world

#: The three labels of a pattern, in the order of SNLI.
LABELS = ("entailment", "neutral", "contradiction")

_ID = re.compile(r"([0-9]+)(\S*)")
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_NOUN_PHRASE = re.compile(r"NP[0-9]*")
_OPTIONAL_WORD = re.compile(r"_(\w+)")
_SYNSET = re.compile(r"(\w+)_([ansrv])_([0-9]+)")
_FEATURE = re.compile(r"(NP[0-9]+)\[\+det\]")


def read_pattern_bank(patterns: Path, world: Path) -> PatternBank:
    """Reads a pattern bank and its mini world.

    A ``<problem>`` with a ``<PT>`` is a pattern, alone or in a ``<group>``, whose attributes and
    conditions are added to its own. Patterns go by the number in their id, then by the rest.

    Args:
        patterns: The XML file.
        world: The YAML file.

    Returns:
        The bank.

    Raises:
        BankError: Everything that is wrong in either file, by file, line and pattern.
        FileNotFoundError: There is no such file.

    Source:
        ``dataset/problem_patterns.xml`` of SpaceNLI at commit 8c10e94d.
    """
    bank, problems = scan_pattern_bank(patterns, world)
    if problems:
        raise BankError(problems)
    return bank


def find_pattern_bank(folder: Path) -> tuple[Path, Path]:
    """The pattern file and the world file of a folder that holds one of each.

    Args:
        folder: A folder with one XML file and one YAML file.

    Returns:
        The XML file and the YAML file.

    Raises:
        SourceNotFoundError: There is no such folder, or it holds none or several of a kind.
    """
    if not folder.is_dir():
        raise SourceNotFoundError(f"{folder} is no folder; expected one with a pattern bank.")
    found = []
    for kind, suffixes in (("XML", {".xml"}), ("YAML", {".yaml", ".yml"})):
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in suffixes)
        if len(files) != 1:
            names = ", ".join(path.name for path in files) or "none"
            raise SourceNotFoundError(f"{folder} must hold one {kind} file, it has {names}.")
        found.append(files[0])
    return found[0], found[1]


def scan_pattern_bank(patterns: Path, world: Path) -> tuple[PatternBank, list[Problem]]:
    """Reads what is sound of a pattern bank, and lists what is not.

    Args:
        patterns: The XML file.
        world: The YAML file.

    Returns:
        The bank of the sound patterns, and the problems of the others.

    Raises:
        BankError: One of the files cannot be read as XML or as a mini world at all.
        FileNotFoundError: There is no such file.
    """
    mini_world = read_mini_world(world)
    root = read_xml(patterns)
    reader = _Reader(str(patterns), mini_world)
    elements: list[tuple[Element, Element | None]] = [(e, None) for e in root.all("problem")]
    for group in root.all("group"):
        elements.extend((element, group) for element in group.all("problem"))
        for nested in group.all("group"):
            reader.problem(nested, "", "a <group> inside a <group> is not read")
    found = [
        pattern
        for element, group in elements
        if any(element.all("PT")) and (pattern := reader.pattern(element, group)) is not None
    ]
    if not found and not reader.problems:
        reader.problem(root, "", "has no pattern, that is, no <problem> with a <PT>")
    found.sort(key=lambda pattern: _order(pattern.id))
    return PatternBank(tuple(found), mini_world), reader.problems


def _order(pattern_id: str) -> tuple[int, str]:
    match = _ID.fullmatch(pattern_id)
    return (int(match[1]), match[2]) if match else (0, pattern_id)


class _Reader:
    def __init__(self, file: str, world: MiniWorld) -> None:
        self.file = file
        self.world = world
        self.problems: list[Problem] = []
        self.lines: dict[str, int] = {}  # of the ids seen

    def problem(self, element: Element, where: str, message: str) -> None:
        self.problems.append(Problem(self.file, element.line, where, message))

    def pattern(self, element: Element, group: Element | None) -> Pattern | None:
        """The pattern of a problem element, or None with problems reported."""
        n_problems = len(self.problems)
        attributes = element.attributes | {
            name: value
            for name, value in (group.attributes if group else {}).items()
            if name not in element.attributes
        }
        pattern_id = attributes.get("id", "")
        where = f"pattern {pattern_id}"
        if not _ID.fullmatch(pattern_id):
            self.problem(element, where, f"id {pattern_id!r} does not begin with a number")
        elif pattern_id in self.lines:
            self.problem(element, where, f"duplicate id, first in line {self.lines[pattern_id]}")
        self.lines.setdefault(pattern_id, element.line)
        label = attributes.get("label", "")
        if label not in LABELS:
            self.problem(element, where, f"label {label!r} is none of {', '.join(LABELS)}")

        templates = list(element.all("PT"))
        if len(templates) > 1:
            self.problem(templates[1], where, "has more than one <PT>")
        sentences = self.sentences(templates[0], where)
        names = self.variables(templates[0], sentences, where)
        examples = tuple(self.sentences(example, where) for example in element.all("ex"))
        for tag, example in zip(element.all("ex"), examples, strict=True):
            if len(example) != len(sentences):
                counts = f"{len(example)} sentences, its pattern {len(sentences)}"
                self.problem(tag, where, f"the example has {counts}")
        sources = [element] if group is None else [element, group]
        restrictions = self.restrictions(sources, where)
        constraint = self.constraint(sources, names, where)
        self.features(sources, where)
        fillers = self.fillers(element, names, restrictions, where)
        reason = " ".join(tag.text.strip() for tag in element.all("reason")) or None
        if len(self.problems) > n_problems:
            return None
        return Pattern(
            id=pattern_id,
            label=label,
            attributes=attributes,
            sentences=sentences,
            examples=examples,
            restrictions=tuple(restrictions),
            constraint=constraint,
            fillers=fillers,
            reason=reason,
            file=self.file,
            line=element.line,
        )

    def leaves(self, sources: Iterable[Element], tag: str, where: str) -> list[Element]:
        """The non-empty elements of that name, in order; they may hold nothing but text."""
        found = [leaf for source in sources for leaf in source.all(tag)]
        for leaf in found:
            if leaf.children:
                self.problem(leaf, where, f"<{tag}> holds an element; expected text only")
        return [leaf for leaf in found if leaf.text.strip()]

    def sentences(self, leaf: Element, where: str) -> tuple[str, ...]:
        """One sentence a line; a leading ^ marks background knowledge and goes."""
        if leaf.children:
            self.problem(leaf, where, f"<{leaf.tag}> holds an element; expected text only")
        lines = [line.strip().lstrip("^").strip() for line in leaf.text.strip().split("\n")]
        if not all(lines):
            self.problem(leaf, where, f"<{leaf.tag}> has an empty line")
        elif len(lines) < 2:
            self.problem(leaf, where, f"<{leaf.tag}> needs at least a premise and a hypothesis")
        return tuple(lines)

    def variables(self, leaf: Element, sentences: Sequence[str], where: str) -> list[str]:
        names = {name for sentence in sentences for name in _VARIABLE.findall(sentence)}
        for sentence in sentences:
            if re.search(r"[{}]", _VARIABLE.sub("", sentence)):
                self.problem(leaf, where, f"unbalanced braces in {sentence!r}")
        return sorted(names)

    def restrictions(self, sources: list[Element], where: str) -> list[Restriction]:
        found: dict[Restriction, None] = {}
        for leaf in self.leaves(sources, "SR", where):
            restrictions, messages = parse_restrictions(leaf.text, self.world)
            found.update(dict.fromkeys(restrictions))
            for message in messages:
                self.problem(leaf, where, message)
        return list(found)

    def constraint(self, sources: list[Element], names: list[str], where: str) -> Constraint | None:
        leaves = self.leaves(sources, "BL", where)
        if not leaves:
            return None
        # Joined as text, as the authors do, so that "a or b" and "c" mean "a or (b and c)".
        text = " and ".join(leaf.text.strip() for leaf in leaves)
        try:
            return parse_constraint(text, names, self.world)
        except ValueError as error:
            self.problem(leaves[0], where, str(error))
            return None

    def features(self, sources: list[Element], where: str) -> None:
        """Checks the grammatical features: only +det is known, which every noun phrase has."""
        seen: set[str] = set()
        for leaf in self.leaves(sources, "FT", where):
            for feature in leaf.text.replace(";", " ").split():
                match = _FEATURE.fullmatch(feature)
                if match is None:
                    self.problem(leaf, where, f"feature {feature!r} is not of the form NP1[+det]")
                elif match[1] in seen:
                    self.problem(leaf, where, f"{match[1]} has two features")
                else:
                    seen.add(match[1])

    def fillers(
        self,
        element: Element,
        names: list[str],
        restrictions: Sequence[Restriction],
        where: str,
    ) -> dict[str, tuple[str, ...]]:
        """The sorted phrases for each variable.

        The projections of a restriction narrow its variables even where it names a variable that
        the pattern lacks and so cannot hold as a relation.
        """
        allowed: dict[str, frozenset[str]] = {}
        for restriction in restrictions:
            for position, name in enumerate(restriction.variables):
                projection = restriction.relation.projection(position)
                allowed[name] = allowed.get(name, projection) & projection
        fillers: dict[str, tuple[str, ...]] = {}
        for name in names:
            if _NOUN_PHRASE.fullmatch(name):
                nouns = allowed.get(name)
                fillers[name] = tuple(
                    phrase
                    for phrase, noun in self.world.noun_phrases.items()
                    if nouns is None or noun in nouns
                )
                if not fillers[name]:
                    message = f"its restrictions contradict each other: no noun is left for {name}"
                    self.problem(element, where, message)
            elif match := _OPTIONAL_WORD.fullmatch(name):
                fillers[name] = ("", match[1])
            elif (match := _SYNSET.fullmatch(name)) and ".".join(
                match.groups()
            ) in self.world.lemmas:
                fillers[name] = tuple(sorted(self.world.lemmas[".".join(match.groups())]))
            else:
                message = f"variable {{{name}}} has no filler: it is no noun phrase ({{NP1}}), no "
                message += "optional word ({_word}) and no synset whose lemmas are known"
                self.problem(element, where, message)
        return fillers
