"""An obvious, slow sampler to compare with: lists every problem, then draws from the list.

Written from the description of the procedure alone; shares no code with the fast one beyond the
records that the readers return.
"""

import random
import re
from itertools import product

from nlihub.loaders.corpora.patterns.records import AllOf, AnyOf, Equal, Holds, Literal, Not


def all_problems(pattern, world):
    """Every valid problem in the authors' order: (sentences, {variable: phrase})."""
    found = {}
    names = sorted(pattern.fillers)
    noun_of = {}
    for phrase in world.common_nouns:
        noun_of[f"the {phrase}"] = phrase
    for phrase in world.proper_names:
        noun_of[phrase] = phrase
    for phrases in product(*(sorted(pattern.fillers[name]) for name in names)):
        filling = dict(zip(names, phrases, strict=True))
        if not all(
            tuple(noun_of[filling[v]] for v in r.variables) in tuples(r.relation)
            for r in pattern.restrictions
            if set(r.variables) <= set(names)
        ):
            continue
        if pattern.constraint is not None and not holds(pattern.constraint, filling):
            continue
        sentences = tuple(render(sentence, filling) for sentence in pattern.sentences)
        assert sentences not in found
        found[sentences] = filling
    return list(found.items())


_TUPLES = {}


def tuples(relation):
    """A relation as the plain set of its tuples."""
    if relation not in _TUPLES:
        _TUPLES[relation] = {t for sets in relation.products for t in product(*sets)}
    return _TUPLES[relation]


def holds(constraint, filling):
    def value(term):
        return term.text if isinstance(term, Literal) else filling[term.name]

    match constraint:
        case AllOf(operands):
            return all(holds(o, filling) for o in operands)
        case AnyOf(operands):
            return any(holds(o, filling) for o in operands)
        case Not(operand):
            return not holds(operand, filling)
        case Equal(left, right):
            return value(left) == value(right)
        case Holds(relation, terms):
            return tuple(value(t) for t in terms) in tuples(relation)


def render(sentence, filling):
    for name, phrase in filling.items():
        sentence = sentence.replace("{" + name + "}", phrase)
    sentence = re.sub("  +", " ", sentence)
    return sentence[0].upper() + sentence[1:]


def draw(pattern, world, per_pattern, seed, with_examples):
    """What the authors' generator takes from a pattern, in order."""
    problems = all_problems(pattern, world)
    sentences = [s for s, _ in problems]
    examples = [e for e in dict.fromkeys(pattern.examples) if e in set(sentences)]
    filling_of = dict(problems)
    if per_pattern == 0:
        chosen = examples
    else:
        if not with_examples:
            for example in examples:
                sentences.remove(example)
        random.seed(seed)
        if per_pattern < 0 or len(sentences) <= per_pattern:
            chosen = list(sentences)
        else:
            chosen = random.sample(sentences, per_pattern)
        if with_examples:
            first = [e for e in examples if e in chosen]
            chosen = first + [s for s in chosen if s not in first]
    return [(s, filling_of[s]) for s in chosen]
