"""Check that a tag may be released, and say in the metadata where the repository is.

    python .ci/prepare_release.py v1.2.3 https://HOST/ORG/NAME [FOLDER]

The release workflow runs it before the build. The README's links and picture are relative, as a
checkout needs them; the page on PyPI shows only links with a host, so here they get the tag's.
"""

import configparser
import re
import sys
from pathlib import Path


def prepare(tag: str, url: str, root: Path) -> list[str]:
    """Prepare a checkout for the build of a release.

    Args:
        tag: The tag, ``vX.Y.Z``.
        url: The repository's address, without a slash at the end.
        root: The checkout; ``README.md`` and ``setup.cfg`` are changed if there is no problem.

    Returns:
        The problems, a line each.
    """
    settings = configparser.ConfigParser()
    setup = root / "setup.cfg"
    settings.read(setup)
    version = settings["metadata"]["version"]
    problems = []
    if tag != f"v{version}":
        problems.append(f"The tag is {tag}; expected v{version}, the version in setup.cfg.")
    for file, line in (("CITATION.cff", f"version: {version}"), ("CHANGELOG.md", f"## {version}")):
        text = (root / file).read_text(encoding="utf-8")
        if not re.search(rf"^{re.escape(line)}\b(?!\.)", text, re.MULTILINE):
            problems.append(f"{file} has no line {line!r}.")
    if problems:
        return problems
    readme = root / "README.md"
    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^]]*\]\()(?![a-z]+:|#)", rf"\1{url}/raw/{tag}/", text)
    text = re.sub(r"(\]\()(?![a-z]+:|#)", rf"\1{url}/blob/{tag}/", text)
    readme.write_text(text, encoding="utf-8")
    known = f"project_urls =\n    Source = {url}\n    Changelog = {url}/blob/{tag}/CHANGELOG.md\n"
    text = setup.read_text(encoding="utf-8")
    setup.write_text(text.replace("keywords =", f"{known}keywords =", 1), encoding="utf-8")
    return []


if __name__ == "__main__":
    found = prepare(sys.argv[1], sys.argv[2], Path(*sys.argv[3:]))
    sys.exit("\n".join(found) or 0)
