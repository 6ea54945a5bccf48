import ast
import configparser
import re
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT

import nlihub

FOLDERS = {
    "nlihub": ROOT / "src" / "nlihub",
    **{
        f"nlihub.{n}": ROOT / n
        for n in (
            "baselines",
            "builders",
            "dataset_cards",
            "integrations",
            "loaders",
            "metrics",
            "publishing",
        )
    },
}
#: What each package may import of ours; metrics stands alone.
MAY_IMPORT = {
    "nlihub": {
        "nlihub",
        "publishing",
        "integrations",
        "baselines",
        "builders",
        "loaders",
        "metrics",
    },
    "integrations": {
        "integrations",
        "publishing",
        "baselines",
        "builders",
        "loaders",
        "metrics",
    },
    "publishing": {"publishing", "baselines", "builders", "loaders", "metrics"},
    "baselines": {"baselines", "builders", "loaders", "metrics"},
    "builders": {"builders", "loaders", "dataset_cards"},
    "loaders": {"loaders"},
    "dataset_cards": set(),
    "metrics": {"metrics"},
}


def setup_cfg():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_setup_cfg_lists_every_package():
    """A forgotten one would be missing from the wheel and still import in an editable install."""
    found = {
        ".".join([name, *init.parent.relative_to(folder).parts])
        for name, folder in FOLDERS.items()
        for init in folder.rglob("__init__.py")
    }
    assert set(setup_cfg()["options"]["packages"].split()) == found


def modules():
    for name, folder in FOLDERS.items():
        for path in sorted(folder.rglob("*.py")):
            yield ".".join([name, *path.relative_to(folder).with_suffix("").parts]), path


@pytest.mark.parametrize(("module", "path"), list(modules()), ids=[m for m, _ in modules()])
def test_imports_run_one_way(module, path):
    parts = module.split(".")
    package = parts[1] if len(parts) > 1 and f"nlihub.{parts[1]}" in FOLDERS else "nlihub"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = (
                [".".join([*parts[: -node.level], node.module or ""])]
                if node.level
                else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            words = name.split(".")
            assert words[0] not in MAY_IMPORT or words[0] == "nlihub", f"bare import of {name}"
            if words[0] == "nlihub":
                inside = len(words) > 1 and f"nlihub.{words[1]}" in FOLDERS
                target = words[1] if inside else "nlihub"
                if parts[-1] == "__main__":  # a program stands at the door, whatever its folder
                    continue
                assert target in MAY_IMPORT[package], f"{module} imports {name}"


def test_scipy_is_imported_where_baselines_are_installed():
    """It is 143 MB, and no requirement of the package itself."""
    lines = re.compile(r"^\s*(?:from|import) scipy\b", re.MULTILINE)
    found = {m for m, path in modules() if lines.search(path.read_text(encoding="utf-8"))}
    assert found == {
        f"nlihub.baselines.systems.{name}" for name in ("lexical_features", "lexicalized", "probe")
    }


def test_importing_is_cheap_and_silent():
    code = (
        "import sys, nlihub, nlihub.cli\n"
        "heavy = {'datasets', 'evaluate', 'pyarrow', 'pandas', 'numpy', 'scipy', 'torch'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["list"], "open_spacenli    1.0.0"),
        (["show", "spacenli"], "made from: construct or release"),
        (["show", "mscinli", "--json"], '"pretty_name": "MSciNLI"'),
    ],
)
def test_what_is_declared_is_shown_without_heavy_libraries(words, shown):
    """The whole program, so that nothing imports them at its end either."""
    code = (
        "import sys, nlihub.cli\n"
        f"sys.argv = ['nlihub', *{words}]\n"
        "try: nlihub.cli.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'datasets', 'evaluate', 'huggingface_hub', 'numpy', 'pandas', 'pyarrow',\n"
        "         'requests', 'scipy', 'yaml'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


def test_the_functions_need_no_heavy_library():
    """Scoring in a hot loop does not wait for evaluate, datasets, matplotlib or scipy."""
    code = (
        "import sys\n"
        "from nlihub.metrics.functional import pattern_accuracy\n"
        "from nlihub.metrics import plots\n"
        "assert pattern_accuracy([0], [0], [0])['accuracy'] == 1\n"
        "heavy = {'datasets', 'evaluate', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_public_names():
    assert set(nlihub.__all__) <= set(dir(nlihub))
    for name in nlihub.__all__:
        assert getattr(nlihub, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = nlihub.nope


def pins(name):
    lines = (ROOT / name).read_text().splitlines()
    return {n.lower().replace("-", "_"): v for n, v in (x.split("==") for x in lines if "==" in x)}


def required(without=()):
    options = setup_cfg()
    extras = options["options.extras_require"]
    chosen = [extras[name] for name in extras if name not in without]
    return "\n".join([options["options"]["install_requires"], *chosen])


def test_every_requirement_is_pinned():
    names = {
        line.split(" ")[0].split("[")[0].lower().replace("-", "_")
        for line in required().splitlines()
        if line
    }
    harnesses = {n for path in (ROOT / ".ci/harnesses").iterdir() for n in pins(path)}
    assert names <= set(pins("constraints.txt")) | harnesses


def test_the_oldest_versions_are_the_lower_bounds():
    """Of all but Spark, training, trackers, baselines, harnesses, docs, which need newer ones."""
    harnesses = ("lm-eval", "lighteval", "inspect-ai")
    newer = ("baselines", "spark", "training", "tracking", "docs", *harnesses)
    lines = required(without=newer).splitlines()
    bounds = {
        name.lower().replace("-", "_"): bound
        for name, bound in (line.split(" >= ") for line in lines if ">=" in line)
    }
    oldest = pins("constraints-oldest.txt")
    for name, bound in bounds.items():
        assert oldest[name].startswith(bound), name


def test_the_tests_build_with_what_the_package_is_built_with():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    tests = setup_cfg()["options.extras_require"]["test"].splitlines()
    assert set(needed) <= {line.replace(" ", "") for line in tests}


def test_pyproject_holds_only_build_system_and_tools():
    assert set(tomllib.loads((ROOT / "pyproject.toml").read_text())) == {"build-system", "tool"}


def test_the_licence_is_that_of_the_data_we_ship():
    packaged = (ROOT / "dataset_cards" / "licenses" / "apache-2.0.txt").read_text()
    assert (ROOT / "LICENSE").read_text() == packaged
