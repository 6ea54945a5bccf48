"""Sentences that parse as such, by a server that answers in the format of CoreNLP."""

import json
import socket
from collections import Counter

import pytest
import requests
from command_line import run_command
from nlihub.builders.scinli import SciNLI
from nlihub.builders.statistics import parses
from nlihub.builders.statistics.parses import ParserError, Roots, parse_texts
from nlihub.builders.statistics.survey import show_survey, survey
from nlihub.loaders.errors import UsageError
from small_versions import build_rows

URL = "http://parser:9000"
CONTRASTING, REASONING, ENTAILMENT, NEUTRAL = SciNLI.SPEC.labels

#: What the server makes of our sentences.
TREES = {
    "The server parses this sentence.": ["S"],
    "We sing.": ["S"],
    "They dance.": ["S"],
    "A song.": ["NP"],
    "Is it new?": ["SQ"],
    "Été, a song (90 %).": ["FRAG"],
    "We sing. A song. They dance.": ["S", "NP", "S"],
    "\n": [],
}


def tree(root):
    return f"(ROOT\n  ({root}\n    (NP (PRP We))\n    (VP (VBP -LRB-))\n    (. .)))"


class Server:
    """Stands for a parser: fixed trees; 500 to what it does not know, as CoreNLP to long texts."""

    def __init__(self, answer=None):
        self.asked = []
        self.answer = answer

    def post(self, url, *, params, data, headers, timeout):
        text = data.decode()
        self.asked.append((text, json.loads(params["properties"])))
        if self.answer == "hang":
            raise requests.Timeout("timed out")
        response = requests.Response()
        response.status_code, body = self.answer or (500, "Your document may be too long.")
        if self.answer is None and text in TREES:
            found = [{"index": n, "parse": tree(root)} for n, root in enumerate(TREES[text])]
            response.status_code, body = 200, json.dumps({"sentences": found})
        response._content = body.encode()
        return response


@pytest.fixture
def serve(monkeypatch):
    def start(answer=None):
        server = Server(answer)
        monkeypatch.setattr(requests, "post", server.post)
        return server

    return start


def row(label, premise, hypothesis):
    return {"label": label, "premise": premise, "hypothesis": hypothesis}


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    rows = [
        row(CONTRASTING, "We sing.", "A song."),
        row(CONTRASTING, "They dance.", "They dance."),
        row(REASONING, "We sing. A song. They dance.", "An endless sentence."),  # refused
        row(NEUTRAL, "Is it new?", "Été, a song (90 %)."),
        row(NEUTRAL, "An endless sentence.", "\n"),  # refused; without a sentence
    ]
    return build_rows(tmp_path_factory.mktemp("small"), SciNLI.SPEC, {"test": rows})


def test_roots_by_class(serve, version):
    server = serve()
    found = survey(version, parser=URL)
    assert found.parses.rows == 5
    roots = {part.part: (part.premise, part.hypothesis) for part in found.parses.roots}
    assert roots == {
        "class contrasting": (Roots(2, 100.0, 0, 97.3), Roots(2, 50.0, 0, 97.4)),
        "class reasoning": (Roots(3, 66.7, 0, 97.5), Roots(0, None, 1, 97.7)),
        "class entailment": (Roots(0, None, 0, 96.9), Roots(0, None, 0, 95.9)),
        "class neutral": (Roots(1, 0.0, 1, 95.3), Roots(1, 0.0, 0, 95.6)),
        "all": (Roots(6, 66.7, 1, 96.8), Roots(3, 33.3, 1, 96.7)),
    }
    text = show_survey(SciNLI.SPEC, found)
    assert "| class contrasting | 100.0 (97.3) | 50.0 (97.4) | 2 / 2 | 0 / 0 |" in text
    assert "| class reasoning | 66.7 (97.5) | (97.7) | 3 / 0 | 0 / 1 |" in text
    # Every text was asked for once, after the trial, in its own letters, and by the papers' parser.
    texts = Counter(text for text, _ in server.asked)
    assert (texts["Été, a song (90 %)."], texts.total()) == (1, 1 + 2 * 5)
    for _, properties in server.asked:
        assert properties["annotators"] == "tokenize,ssplit,pos,parse"
        assert properties["parse.model"].endswith("englishPCFG.ser.gz")


def test_only_some_rows_of_many_are_parsed(serve, version, monkeypatch):
    monkeypatch.setattr(parses, "MAX_ROWS", 2)
    server = serve()
    done = run_command("stats", version.folder, "--parser", URL)
    assert "Of 2 rows." in done.stdout
    assert len(server.asked) == 1 + 2 * 2


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((404, "nothing here"), "refuses even 'The server .* has to be a CoreNLP server"),
        ((200, "<html>Hello</html>"), "does not answer in the format of CoreNLP"),
        ((200, "[]"), "does not answer in the format of CoreNLP"),
        ((200, '{"sentences": [{"index": 0}]}'), "does not answer in the format of CoreNLP"),
        ((200, '{"sentences": [{"parse": "(ROOT word)"}]}'), "does not answer in the form"),
        ("hang", r"does not answer within 0\.2 s"),
    ],
)
def test_a_parser_that_answers_something_else(serve, version, answer, expected):
    serve(answer)
    with pytest.raises(ParserError, match=expected):
        parse_texts(version, "default", URL, timeout_s=0.2)


def test_a_parser_that_is_not_there(version):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = run_command("stats", version.folder, "--parser", url)
    assert (done.returncode, done.stdout) == (1, "")  # a service failed, the use was right
    assert "cannot be reached" in done.stderr and "Start a CoreNLP server" in done.stderr
    for url in ("localhost:9000", "file:///etc/hosts", "http://", ""):
        with pytest.raises(UsageError, match="expected an address"):
            parse_texts(version, "default", url)
