"""Texts as the models without pretraining see them: tokens, stems and word classes.

NLTK's tokenizer and stemmer and HanTa's tagger come with all that they need, so nothing is
downloaded. This module also has what those models share: their views of a pair, and the files
that they are kept in.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from HanTa.HanoverTagger import HanoverTagger
from nltk.stem import PorterStemmer
from nltk.tokenize import NLTKWordTokenizer

from ...loaders.errors import MissingExtraError, SourceNotFoundError, UnknownNameError, UsageError

#: What a model is shown of a pair: both texts, or the hypothesis alone (SciNLI, Table 7).
VIEWS = ("pair", "hypothesis")

WORD_CLASSES = ("noun", "verb", "adjective", "adverb")
#: The beginnings of the tags of the British National Corpus; VM0 is the tag of modal verbs.
_CLASS_OF_TAG = dict.fromkeys(("NN", "NP"), "noun")
_CLASS_OF_TAG |= dict.fromkeys(("VB", "VD", "VH", "VM", "VV"), "verb")
_CLASS_OF_TAG |= {"AJ": "adjective", "AV": "adverb"}

# Before the mark are two letters, digits or closing marks, which keeps "e.g. BERT", "U.S. English"
# and "J. R. Firth" together.
_SENTENCE_END = re.compile(r"""(?<=[\w)\]%"']{2}[.!?])\s+(?=[A-Z])""")
_END_TOKENS = frozenset(".!?")
#: The tagger's time grows with the square of a word's length: 0.03 s at 100 characters.
_MAX_TAGGED_CHARS = 100

_tokenizer = NLTKWordTokenizer()
_stemmer = PorterStemmer()


def tokenize(text: str) -> list[str]:
    """Splits a text into tokens, in their own case.

    The tokenizer takes a period off a word only at the end of its input, so a text of several
    sentences is first cut where ``.``, ``!`` or ``?`` is followed by a blank and a capital letter.

    Args:
        text: Any text, with line breaks or empty too.

    Returns:
        Its tokens, none of them empty and none with a blank in it; quotation marks are written as
        in the Penn Treebank.

    Source: SciNLI, section 4.1: NLTK's tokenizer.

    >>> tokenize("It isn't new, e.g. BERT does it. We don't.")
    ['It', 'is', "n't", 'new', ',', 'e.g.', 'BERT', 'does', 'it', '.', 'We', 'do', "n't", '.']
    """
    return [
        token for sentence in _SENTENCE_END.split(text) for token in _tokenizer.tokenize(sentence)
    ]


def tokenize_lower(text: str) -> list[str]:
    """The tokens of a text in lower-case letters.

    A word is then the same at the start of a sentence as elsewhere. The papers say nothing of case.
    """
    return [token.lower() for token in tokenize(text)]


def stem_tokens(text: str) -> list[str]:
    """The stems of the tokens of a text, in lower-case letters.

    Source: SciNLI, section 4.1: NLTK's tokenizer and Porter stemmer, which by itself makes letters
        lower-case.

    >>> stem_tokens("Models were significantly improved.")
    ['model', 'were', 'significantli', 'improv', '.']
    """
    return [stem(token) for token in tokenize(text)]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Porter stem of a word, in lower-case letters."""
    found: str = _stemmer.stem(word)
    return found


def is_word(token: str) -> bool:
    """Whether a token has a letter or digit, and so is no mere punctuation."""
    return any(character.isalnum() for character in token)


def word_classes(tokens: Sequence[str]) -> list[str | None]:
    """Tags tokens by HanTa's English model.

    Sentences, which end at ``.``, ``!`` or ``?``, are tagged one by one. The tagger sees only the
    last 100 characters of a token that is longer, such as an address or a formula.

    Args:
        tokens: What ``tokenize`` gave: in their own case, by which the tagger knows names.

    Returns:
        For each token one of ``WORD_CLASSES``, or None. Modal verbs are verbs, and names are nouns.

    Raises:
        MissingExtraError: HanTa is too old.

    >>> word_classes(tokenize("The new model works very well."))
    [None, 'adjective', 'noun', 'verb', 'adverb', 'adverb', None]
    """
    tags: list[str] = []
    start = 0
    for end, token in enumerate(tokens, 1):
        if token in _END_TOKENS or end == len(tokens):
            sentence = [word[-_MAX_TAGGED_CHARS:] for word in tokens[start:end]]
            tags += _tagger().tag_sent(sentence, taglevel=0)
            start = end
    return [_CLASS_OF_TAG.get(tag[:2]) for tag in tags]


@cache
def _tagger() -> HanoverTagger:
    tagger = HanoverTagger("morphmodel_en.pgz")
    if "AJ0" not in tagger.tag2int:  # up to 1.1 its tags are those of the Brown corpus
        raise MissingExtraError(
            "Word classes need the tags that HanTa has from 1.2.1 on: install nlihub[baselines]."
        )
    # A pure function of a word, which the tagger works out anew each time the word occurs.
    tagger.analyze_forward = lru_cache(maxsize=1 << 16)(tagger.analyze_forward)
    return tagger


def check_view(view: str) -> None:
    """Checks the name of a view.

    Raises:
        UnknownNameError: It is none of ``VIEWS``.
    """
    if view not in VIEWS:
        raise UnknownNameError.of("view", view, VIEWS)


def check_words(words: Any, what: str) -> tuple[str, ...]:
    """Checks a list of words, each of which has its own number.

    Args:
        words: What a file holds.
        what: What they are called in messages.

    Returns:
        The words.

    Raises:
        UsageError: It is no list, or one of its words is no string, is empty or there twice.
    """
    if not isinstance(words, list | tuple):
        raise UsageError(f"{what}: expected a list of words, got {type(words).__name__}.")
    if bad := [word for word in words if not isinstance(word, str) or not word]:
        raise UsageError(f"{what}: {bad[0]!r} is no word.")
    if len(set(words)) < len(words):
        [(word, _)] = Counter(words).most_common(1)
        raise UsageError(f"{what}: {word!r} is there more than once.")
    return tuple(words)


def write_saved(path: Path, content: Mapping[str, Any]) -> None:
    """Writes an object as JSON, the same bytes for the same content."""
    path.write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")


def read_saved(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Reads an object that ``write_saved`` wrote.

    Args:
        path: The file.
        names: The fields that it should have.

    Returns:
        Its fields.

    Raises:
        SourceNotFoundError: There is no such file.
        UsageError: It is no JSON, or has other fields.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SourceNotFoundError(f"There is no file {path}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from None
    if not isinstance(found, dict) or set(found) != set(names):
        has = ", ".join(sorted(found)) or "none" if isinstance(found, dict) else "no object"
        raise UsageError(f"{path}: expected the fields {', '.join(sorted(names))}; got {has}.")
    return found
