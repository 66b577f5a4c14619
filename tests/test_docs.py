"""What the pages link to is there, and their commands are understood."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from chosen import mostly_slow
from hydra.core.override_parser.overrides_parser import OverridesParser

from othello_lab.__main__ import main, room_main
from othello_lab.agents.config import compose
from othello_lab.play.config import read
from othello_lab.training.data_plan import read as read_data
from othello_lab.training.steps import read as read_training

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "results" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


QUICK = [PAGES[0], *(ROOT / "docs" / f"{name}.md" for name in ("own", "terminal", "tutorial"))]
"""Pages whose commands are always tried; the others name very many."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_is_linked_from_the_first() -> None:
    first = PAGES[0].read_text(encoding="utf-8")
    assert [page.name for page in PAGES[2:] if f"(docs/{page.name})" not in first] == []


# ------------------------------------------------------------------ commands

COMMAND = re.compile(r"^\s*(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?python -m (\w+) ?(.*)$", re.MULTILINE)
COMPOSED = {
    ("experiments", "run"): "run",
    ("experiments", "study"): "run",
    ("training", "train"): "train",
    ("training", "selfplay"): "data",
    ("training", "positions"): "data",
    ("play", "terminal"): "play",
    ("play", "series"): "play",
    ("play", "web"): "play",
}
"""Commands whose words compose a configuration, and which one."""
PARSED = ("agents", "core")
"""Packages all of whose commands have a parser that lists their options."""


def shell_commands(page: Path) -> list[tuple[str, list[str]]]:
    """The commands ``python -m PACKAGE ...`` of a page's shell examples."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = []
    for package, rest in COMMAND.findall("\n".join(blocks).replace("\\\n", " ")):
        words = shlex.split(rest, comments=True)
        stop = next((place for place, word in enumerate(words) if word in (">", "|", "&&")), None)
        found.append((package, words[:stop]))
    return found


def brought_along(folder: Path) -> None:
    """What the examples say that a reader has."""
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (line_up,) = re.findall(r"```yaml\n(.*?)```", tutorial, re.DOTALL)
    own = (ROOT / "docs" / "own.md").read_text(encoding="utf-8")
    files = {
        "my_conf/agents/squares_or_freedom.yaml": line_up,
        "my_conf/agent/corners.yaml": "# Corners\n_target_: ./mine.py:Corners\n",
        "results/tuned/2026-01-31_12-00-00/conf/evaluation/trained_tuned.yaml": (
            "# Learned\n_target_: othello_lab.agents.evaluation.Composite\nweights: {corners: 1}\n"
        ),
        "mine.py": "\n\n".join(re.findall(r"```python\n(.*?)```", own, re.DOTALL)),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def is_composed(words: list[str], config: str) -> None:
    """Raises ConfigError for what cannot be; of a sweep the first run is looked at."""
    folders = []
    if "--config-dir" in words:
        place = words.index("--config-dir")
        folders = [words[place + 1]]
        words = words[:place] + words[place + 2 :]
    words = [word for word in words if "=" in word]
    words = [re.sub(r"=zip\(([^,)]*).*\)$", r"=\1", word) for word in words]
    parsed = OverridesParser.create().parse_overrides(words)
    for place, each in enumerate(parsed):
        if each.is_sweep_override() and each.is_choice_sweep():
            words[place] = f"{each.key_or_group}={next(iter(each.sweep_string_iterator()))}"
    if config == "train":
        read_training(words[0].partition("=")[2], words[1:], folders)
    elif config == "play":
        read(words, folders)
    elif config == "data":
        read_data(words, folders)
    else:
        compose(config, words, folders)


@pytest.mark.parametrize(
    "page", mostly_slow(PAGES, QUICK), ids=lambda page: str(page.relative_to(ROOT))
)
def test_commands_are_understood(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Those with settings are composed; of the others the command and its options are known."""
    brought_along(tmp_path)
    monkeypatch.chdir(tmp_path)
    for package, (name, *words) in shell_commands(page):
        told = f"python -m {package} {name} {' '.join(words)}"
        if (package, name) in COMPOSED and not {"--help", "--ship"} & set(words):
            if name in ("study", "train"):
                words = [f"+{name}={words[0]}", *words[1:]]
            if name == "series":
                words = [re.sub(r"^(games|points)=", r"series.\1=", word) for word in words]
            try:
                is_composed(words, COMPOSED[package, name])
            except ValueError as error:
                if "needs the extra" not in str(error):
                    pytest.fail(f"{told}: {error}")
            continue
        with suppress(SystemExit):
            run = main if package in ("experiments", "training") else partial(room_main, package)
            assert run([name, "--help"]) == 0, told
        printed = capsys.readouterr().out
        assert printed, told
        for option in (word for word in words if word.startswith("--")):
            assert package not in PARSED or option.partition("=")[0] in printed, told


def test_commands_are_found() -> None:
    known = [(page.name, package) for page in PAGES for package, _ in shell_commands(page)]
    assert len(known) > 60 and ("tutorial.md", "experiments") in known


@pytest.mark.slow
def test_the_tutorial_leads_to_its_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands, with few games, and then its Python."""
    brought_along(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "tutorial.md"
    for package, words in shell_commands(page):
        if words[0] == "run":
            few = [re.sub(r"^(games)=.*|^(depth)=.*,.*", r"\1\2=2", word) for word in words]
            few = [word.replace("depth=2", "depth=1,2") if "-m" in few else word for word in few]
            assert package == "experiments" and main([*few, "games=2"]) == 0
    (python,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (sweep,) = tmp_path.glob("results/squares_or_freedom/*-sweep")
    python = re.sub(r'load\(".*"\)', f"load({str(sweep)!r})", python)
    exec(python, {})
    assert (tmp_path / "squares.svg").read_text(encoding="utf-8").startswith("<?xml")
