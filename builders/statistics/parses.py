"""Measure the share of sentences with an ``S`` root, by a CoreNLP server that the user runs.

Tested with a server that answers fixed trees in the format of CoreNLP, not with CoreNLP itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...loaders.errors import NLIHubError, UsageError, needs_extra
from ..core.schema import TEXTS
from ..versions.version import BuiltVersion
from .rows_and_texts import RowKind, Sums, published_texts, sum_tallies
from .sampling import sample_rows

#: Maximal number of rows whose texts are parsed: the share of all rows is within half a point
#: (twice the standard error of 97 % is 0.5).
MAX_ROWS = 5_000
#: How long the server may be silent; its own limit for a text is 15 s by default.
TIMEOUT_S = 120.0
_PROPERTIES = {
    "annotators": "tokenize,ssplit,pos,parse",
    # A server prefers the shift-reduce parser where it has its model.
    "parse.model": "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz",
}
_TRIAL = "The server parses this sentence."
_N_SUMS = 3


class ParserError(NLIHubError, ConnectionError):
    """A parser cannot be reached, does not answer in time, or not in the format of CoreNLP."""


@dataclass(frozen=True)
class Roots:
    """The roots of the parses of some texts.

    Attributes:
        sentences: Number of sentences that the parser found and parsed.
        s_roots: Share of sentences whose tree has ``S`` below its root, in percent; None without
            sentences.
        refused: Number of texts that the server answered with an error, for instance too long ones.
        published: The paper's share; None where it publishes none for these rows.
    """

    sentences: int
    s_roots: float | None
    refused: int
    published: float | None


@dataclass(frozen=True)
class PartRoots:
    """The roots of premises and hypotheses.

    Attributes:
        part: The rows: ``class NAME``, ``domain NAME``, ``split NAME`` or ``all``.
        premise: Roots of the premises.
        hypothesis: Roots of the hypotheses.
    """

    part: str
    premise: Roots
    hypothesis: Roots


@dataclass(frozen=True)
class Parses:
    """The parses of the texts of a version.

    Attributes:
        rows: Number of rows that were parsed.
        roots: The roots of every class, domain and split, and of all rows.
    """

    rows: int
    roots: tuple[PartRoots, ...]


def parse_texts(
    version: BuiltVersion, config: str, url: str, *, timeout_s: float = TIMEOUT_S
) -> Parses:
    """Measure the shares of ``S`` roots in a version, of at most 5,000 rows drawn by a keyed hash.

    The server splits each text into sentences and parses them by Stanford's PCFG; texts that it
    refuses are counted.

    Args:
        version: The version.
        config: The config.
        url: Address of a CoreNLP server.
        timeout_s: How long the server may be silent, in seconds.

    Raises:
        MissingExtraError: NLTK is not installed.
        UsageError: The address is not one of HTTP.
        ParserError: The server cannot be reached, refuses a plain sentence, does not answer in
            time, or not in the format of CoreNLP.
        VerificationError: A file is missing or malformed.

    Source: SciNLI, section 3.5, and MSciNLI, section 3: the share of sentences that the Stanford
        PCFG parser (3.5.2) gives a parse with an ``S`` root, by class and by domain. Newer
        versions of the parser may differ.
    """
    parser = _Parser(url, timeout_s)
    if parser.find_roots(_TRIAL) is None:
        raise ParserError(
            f"{url} refuses even {_TRIAL!r}: {parser.last_refusal}. It has to be a CoreNLP server "
            f"with the model {_PROPERTIES['parse.model']}."
        )
    spec = version.builder.SPEC
    splits = list(version.manifest.configs[config])
    rows = sample_rows(version, config, splits, ["label", "domain", *TEXTS], MAX_ROWS)
    tallies: dict[RowKind, list[float]] = {}
    for row in rows.to_pylist():
        kind = RowKind(row["split"], row["label"], row["domain"])
        sums = tallies.setdefault(kind, [0.0] * (_N_SUMS * len(TEXTS)))
        for start, name in enumerate(TEXTS):
            roots = parser.find_roots(row[name])
            sums[_N_SUMS * start] += len(roots or ())
            sums[_N_SUMS * start + 1] += (roots or []).count("S")
            sums[_N_SUMS * start + 2] += roots is None
    parts = []
    for part, found in sum_tallies(tallies, _N_SUMS * len(TEXTS), spec.labels, splits):
        published = published_texts(spec.name, config, str(part))
        premise, hypothesis = (
            _roots(found[_N_SUMS * i : _N_SUMS * (i + 1)], published.get(f"{name}_s_roots"))
            for i, name in enumerate(TEXTS)
        )
        parts.append(PartRoots(str(part), premise, hypothesis))
    return Parses(len(rows), tuple(parts))


def _roots(sums: Sums, published: float | None) -> Roots:
    n_sentences, n_s, n_refused = map(int, sums)
    share = round(100 * n_s / n_sentences, 1) if n_sentences else None
    return Roots(n_sentences, share, n_refused, published)


class _Parser:
    """A CoreNLP server, asked one text at a time."""

    def __init__(self, url: str, timeout_s: float) -> None:
        with needs_extra("baselines", "Asking a parser"):
            from nltk.parse.corenlp import CoreNLPParser
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise UsageError(f"The parser is {url!r}; expected an address, http://localhost:9000.")
        self._url, self._timeout_s = url, timeout_s
        self._server = CoreNLPParser(url)
        self.last_refusal = ""

    def find_roots(self, text: str) -> list[str] | None:
        """Return the label below the root of each sentence of a text; None where it is refused."""
        import requests

        try:
            return list(self._ask(text))
        except requests.HTTPError as error:  # an error status; the server is still up
            self.last_refusal = " ".join(str(error).split())
            return None
        except requests.Timeout as error:
            raise ParserError(
                f"{self._url} did not answer within {self._timeout_s:g} s. Is it a CoreNLP server, "
                "and is its own -timeout below that?"
            ) from error
        except (requests.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise self._wrong_form(error) from error
        except requests.RequestException as error:
            raise ParserError(
                f"{self._url} cannot be reached: {error}. Start a CoreNLP server there."
            ) from error
        except ValueError as error:  # from the tree
            raise self._wrong_form(error) from error

    def _wrong_form(self, error: Exception) -> ParserError:
        return ParserError(f"{self._url} does not answer in the format of CoreNLP: {error!r}.")

    def _ask(self, text: str) -> Iterator[str]:
        trees = self._server.parse_text(text, properties=_PROPERTIES, timeout=self._timeout_s)
        for tree in trees:  # (ROOT (S ...))
            yield tree[0].label()
