"""A small corpus of papers, made of random words, with all that the procedure looks at."""

import json
import random

from nlihub.loaders.corpora.papers.paper import Paper, Section

WORDS = [
    *("model", "corpus", "parser", "label", "token", "vector", "grammar", "signal", "cluster"),
    *("network", "query", "index", "tree", "graph", "method", "result", "feature", "sample"),
    *("domain", "error", "metric", "task", "score", "window", "kernel", "layer", "span"),
    "rule",
]
PHRASES = ("However", "In contrast", "Thus", "Therefore", "In particular", "That is")


def sentence(draw, opening=""):
    """A sentence of 6 to 14 words that no rule drops."""
    words = [draw.choice(WORDS) for _ in range(draw.randint(6, 14))]
    text = f"the {' '.join(words)} holds {draw.randint(1, 10**9)} times."
    return f"{opening}, {text}" if opening else text[0].upper() + text[1:]


def make_papers(n_papers, *, domains=("acl",), seed=5):
    """Papers in the plain form: 3 sections, in each of them every linking phrase once.

    Args:
        n_papers: How many; the years go round from 2018 to 2021.
        domains: Their domains, going round; None for no domain.
        seed: Decides the words.
    """
    draw = random.Random(seed)
    papers = []
    for number in range(n_papers):
        sections = []
        for title in ("Abstract", "Method", "Results"):
            paragraphs = []
            for half in (PHRASES[:3], PHRASES[3:]):
                sentences = [sentence(draw) for _ in range(3)]
                for phrase in half:
                    sentences += [sentence(draw), sentence(draw, phrase)]
                paragraphs.append(sentences)
            sections.append({"title": title, "paragraphs": paragraphs})
        papers.append(
            {
                "id": f"P{number:03}",
                "year": 2018 + number % 4,
                "domain": domains[number % len(domains)],
                "sections": sections,
            }
        )
    return papers


def as_paper(fields):
    """A paper of the plain form as a record."""
    sections = [Section(s["title"], s["paragraphs"]) for s in fields["sections"]]
    return Paper(fields["id"], fields["year"], fields["domain"], sections, "papers.jsonl", 1)


def paper_of(*paragraphs, key="A", year=2019):
    """A paper of one section."""
    return Paper(key, year, "acl", [Section("", list(paragraphs))], "papers.jsonl", 1)


def write_lines(path, papers):
    """Writes papers as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(paper) + "\n" for paper in papers), encoding="utf-8")
    return path
