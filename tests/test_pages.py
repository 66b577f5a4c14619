"""What the pages link to is there; their commands work, and print what the pages show.

A page of ``docs/`` marks its fenced blocks:

``sh``: commands that are run in the page's order, from a folder that is empty at first. They end
with exit code 0; after ``sh exit=1`` the block ends with 1.
``sh norun``: commands that need a person, a network, hours or other machines. They are understood.
``text`` behind one that is run: its output. These lines are printed in this order; white space
does not count, and ``...`` stands for anything.
``<!-- file: mine.py -->`` in the line before a block: the block is this file.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

from othello_lab.__main__ import main, room_main
from othello_lab.agents.composing import compose
from othello_lab.play.config import read
from othello_lab.training.selfplay import read as read_data
from othello_lab.training.steps import read as read_training

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

UNMARKED = ("file_protocol.md", "line_protocol.md")
"""Pages whose commands are only understood, as nobody has marked yet which of them can be run."""
TRIED = [
    page.name
    for page in sorted(DOCS.glob("*.md"))
    if page.name not in UNMARKED and re.search(r"^```sh(?! norun)", page.read_text("utf-8"), re.M)
]
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in (ROOT / "README.md", ROOT / "results" / "README.md", *sorted(DOCS.rglob("*.md")))
}
NEEDS = {"class.md": ("cc", "javac"), "students.md": ("cc", "javac")}
"""Programs that a page's commands need beside the lab."""
MISSING = "needs the extra"
"""The error on a package that a test's machine may lack."""
SECONDS = 600  # for one block, on a loaded machine


# ------------------------------------------------------------------ links


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            there = (page.parent / file).resolve() if file else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), target


@pytest.mark.integration
def test_pages_name_only_files_that_jobs_write(
    recorded_ladder: Path, recorded_sweep: Path, recorded_study: Path
) -> None:
    jobs = (recorded_ladder, recorded_sweep, recorded_study)
    written = {path.name for folder in jobs for path in folder.rglob("*")}
    written |= {"claims.csv", "tables.sqlite"}  # by class.md's own commands, and by export
    for name, page in PAGES.items():
        named = re.findall(r"`(\w+\.(?:csv|sqlite))`", page.read_text(encoding="utf-8"))
        assert not set(named) - written, name
    assert len(pd.read_csv(recorded_ladder / "standings.csv")) == 6


def test_every_page_is_in_the_contents() -> None:
    contents = DOCS / "README.md"
    linked = re.findall(r"^- .*\]\((.*)\)$", contents.read_text(encoding="utf-8"), re.MULTILINE)
    named = {(contents.parent / target).resolve() for target in linked} | {contents}
    assert [name for name, page in PAGES.items() if page not in named] == []


# ------------------------------------------------------------------ blocks of a page


@dataclass(frozen=True)
class Block:
    """A fenced block: what follows its fence, its text, its file and the line of its fence."""

    info: str
    text: str
    file: str
    line: int

    @property
    def is_shell(self) -> bool:
        return self.info.split()[:1] == ["sh"]

    @property
    def is_run(self) -> bool:
        return self.is_shell and not self.file and "norun" not in self.info.split()

    @property
    def exit_code(self) -> int:
        return int((re.findall(r" exit=(\d+)", self.info) or [0])[0])


FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in its order."""
    return [
        Block(
            info=match["info"].strip(),
            text=match["text"],
            file=match["file"] or "",
            line=text.count("\n", 0, match.start("info")) + 1,
        )
        for match in FENCE.finditer(text)
    ]


def write_file(folder: Path, block: Block) -> None:
    path = folder / block.file
    assert folder in path.resolve().parents, block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")


# ------------------------------------------------------------------ commands that are run


def missing(shown: str, printed: str) -> str | None:
    """The first shown line that was not printed behind those before it."""
    left = iter([_alike(line) for line in printed.splitlines()])
    for line in filter(None, map(str.strip, shown.splitlines())):
        parts = [re.escape(part.strip()) for part in _alike(line).split("...")]
        pattern = re.compile(" ?.*? ?".join(parts), re.DOTALL)
        if line != "..." and not any(pattern.fullmatch(other) for other in left):
            return line
    return None


def _alike(line: str) -> str:
    """A line without what depends on the width of a number: white space, the length of rules."""
    return " ".join(re.sub(r"([─━═-])\1{3,}", r"\1\1\1", line).split())


def run(script: str, folder: Path) -> tuple[int, str]:
    """The exit code and output of shell commands, which end with the first that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", f"trap 'echo \"failed: $BASH_COMMAND\"' ERR\n{script}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "LAB": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    return process.returncode, process.stdout


def follow(text: str, folder: Path) -> int:
    """Do what a page says; return how many of its blocks were run."""
    number, printed = 0, None
    for block in blocks(text):
        where = f"line {block.line}"
        if block.file:
            write_file(folder, block)
        elif block.is_run:
            code, printed = run(block.text, folder)
            assert code == block.exit_code, f"{where}: exit code {code}\n{block.text}{printed}"
            number += 1
        elif block.info == "text" and printed is not None:
            line = missing(block.text, printed)
            assert line is None, f"{where}: not printed: {line}\n{printed}"
        else:
            printed = None
    return number


@pytest.mark.nightly
@pytest.mark.parametrize("name", TRIED)
def test_the_commands_of_a_page_print_what_it_shows(name: str, tmp_path: Path) -> None:
    missing_tools = [tool for tool in NEEDS.get(name, ()) if shutil.which(tool) is None]
    if missing_tools:
        pytest.skip(f"needs {', '.join(missing_tools)}")
    follow((DOCS / name).read_text(encoding="utf-8"), tmp_path)


PAGE = """\
<!-- file: sub/name.txt -->
```text
Anna
```
```sh
cat sub/name.txt; echo "took 0.3 s,    12 nodes"; echo ────────
```
```text
Anna
took ... s, 12 nodes
──────
```
```sh norun
exit 3
```
```sh exit=1
false
```
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("12 nodes\n──────", "13 nodes\n──────", "not printed: took ... s, 13 nodes"),
        ("Anna\ntook ... s, 12 nodes\n", "took ...\nAnna\n", "not printed: Anna"),
        ("sub/name.txt;", "none.txt;", "failed: cat none.txt"),
        ("```sh exit=1", "```sh", "exit code 1"),
        ("file: sub/", "file: ../", "../name.txt"),
    ],
)
def test_what_is_wrong_on_a_page_is_found(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert follow(PAGE, tmp_path) == 2 and old in PAGE
    with pytest.raises(AssertionError, match=re.escape(message)):
        follow(PAGE.replace(old, new), tmp_path)


# ------------------------------------------------------------------ commands that are understood

COMMAND = re.compile(
    r"^\s*(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:python -m (?P<room>\w+)|othello-lab) ?(?P<words>.*)$",
    re.MULTILINE,
)
ROOMS = ("agents", "core", "play")
"""Rooms that are commands of ``othello-lab``."""
COMPOSED = ["run", "study", "train", "selfplay", "positions"]
COMPOSED += ["play terminal", "play series", "play web"]
"""Commands whose words compose a configuration."""
PARSED = ("agents", "core")
"""Rooms all of whose commands have a parser that lists their options."""


def shell_commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of the lab in a page's shell blocks: ``play terminal``, and its words."""
    scripts = [block.text.replace("\\\n", " ") for block in blocks(text) if block.is_shell]
    for room, rest in COMMAND.findall("\n".join(scripts)):
        words = shlex.split(rest, comments=True)
        stop = next((index for index, word in enumerate(words) if word in (">", "|", "&&")), None)
        words = ([room] if room in ROOMS else []) + words[:stop]
        name = " ".join(words[: 2 if words[0] in ROOMS else 1])
        yield name, words[len(name.split()) :]


QUICK = ("README.md", "docs/start.md", "docs/heuristic.md", "docs/cluster.md")
"""Pages whose commands the default tests compose; the integration tests do all the others'."""


def bring_along(folder: Path, text: str) -> None:
    """Write what a page, and those before it, say that a reader has."""
    before = "".join(
        (DOCS / name).read_text(encoding="utf-8") for name in ("heuristic.md", "search.md")
    )
    mine = "\n".join(block.text for block in blocks(before) if block.file == "mine.py")
    corners = "# Corners\n_target_: ./mine.py:Corners\n"
    files = [Block("", mine, "mine.py", 0), Block("", corners, "my_conf/agent/corners.yaml", 0)]
    for block in (*files, *blocks(text)):
        if block.file:
            write_file(folder, block)


def compose_command(name: str, words: list[str]) -> None:
    """Raise ConfigError for what cannot be composed; of a sweep the first run is looked at."""
    folders = []
    if "--config-dir" in words:
        index = words.index("--config-dir")
        folders = [words[index + 1]]
        words = words[:index] + words[index + 2 :]
    settings = [re.sub(r"^([^=]*=[^,\[{(]*),.*", r"\1", word) for word in words if "=" in word]
    if name == "train":
        read_training(words[0], settings, folders)
    elif name in ("selfplay", "positions"):
        read_data(settings, folders)
    elif name.startswith("play"):
        series = "series." if name == "play series" else ""
        read([re.sub(r"^(games|points)=", rf"{series}\1=", word) for word in settings], folders)
    else:
        study = [f"+study={words[0]}"] if name == "study" else []
        compose("run", study + settings, folders)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.integration) for name in PAGES],
)
def test_commands_are_understood(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those with settings are composed; of the others the command and its options are known."""
    text = PAGES[name].read_text(encoding="utf-8")
    bring_along(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    for name, words in shell_commands(text):
        command_line = f"{name} {' '.join(words)}"
        if name in COMPOSED and not {"--help", "--ship"} & set(words):
            try:
                compose_command(name, words)
            except ValueError as error:
                if MISSING not in str(error):
                    pytest.fail(f"{command_line}: {error}")
            continue
        room, *command = name.split()
        with suppress(SystemExit):
            start = partial(room_main, room) if room in ROOMS else main
            assert start([*(command or [room]), "--help"]) == 0, command_line
        printed = capsys.readouterr().out
        assert printed, command_line
        for option in (word for word in words if word.startswith("--")):
            assert room not in PARSED or option.partition("=")[0] in printed, command_line


def test_commands_are_found() -> None:
    texts = (page.read_text(encoding="utf-8") for page in PAGES.values())
    names = [name for text in texts for name, _ in shell_commands(text)]
    assert len(names) > 60 and {"run", "play terminal", "agents check"} <= set(names)


# ------------------------------------------------------------------ notebooks


@pytest.mark.parametrize(
    ("notebook", "words", "made"),
    [
        ("notebook.ipynb", ("hollow", "discs_lost", " leads "), "hollow_vs_iago/*/report.html"),
        (
            "notebook_research.ipynb",
            ("mobility", "4 of 40 games replayed"),
            "squares_or_freedom/*-sweep/*/record.sqlite",
        ),
    ],
)
@pytest.mark.nightly
def test_a_notebook_runs(notebook: str, words: tuple[str, ...], made: str, tmp_path: Path) -> None:
    """It shows these words and two pictures; no cell prints."""
    content = nbformat.read(DOCS / notebook, as_version=4)
    NotebookClient(content, timeout=SECONDS, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} == {"execute_result"}
    shown = "".join(f"{output['data']}" for output in outputs)
    assert [word for word in words if word not in shown] == []
    assert sum("image/png" in output["data"] for output in outputs) == 2
    assert len(list(tmp_path.glob(f"results/{made}"))) == (6 if "sweep" in made else 1)
