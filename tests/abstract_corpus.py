"""A small corpus of abstracts in PubTator's format, on which every rule-based strategy works."""

from abstract_samples import place

STEMS = ("foxin", "henase", "dogol", "catenate", "owlin", "ratase", "emuol", "gnuin")


def make_abstract(number, *, conclude="We conclude that", verb="inhibits"):
    """An abstract of its own entities, numbers and conclusion.

    Args:
        number: Its pmid; other numbers have other names.
        conclude: What its conclusion begins with.
        verb: What the first entity does to the second.
    """
    first, second, other = (f"{STEMS[(number + n) % len(STEMS)]}{number}" for n in range(3))
    body = (
        f"We gave {first} to {20 + number % 7} hens. "
        f"Levels of {second} fell by {30 + number % 11}% within days. "
        f"In other hens {other} was found beside the nest. "
        f"{conclude} {first} {verb} {second} by {50 + number % 13}% in hens."
    )
    title = f"On hens and {first}."
    text = f"{title} {body}"
    names = [(first, 1), (second, 0), (other, 0), (first, 2), (second, 1)]
    lines = [f"{number}|t|{title}", f"{number}|a|{body}"]
    for name, n_before in names:
        start, end = place(text, name, n_before)
        lines.append("\t".join(map(str, (number, start, end, name, "Gene", name))))
    lines.append("\t".join((str(number), "PPI", first, second)))
    return "\n".join(lines) + "\n"


def write_abstracts(path, numbers):
    """Writes a file of abstracts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(make_abstract, numbers)))
    return path
