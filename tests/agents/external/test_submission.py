"""What is handed in is told apart without running it; what nobody can tell is told in one line."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bots import EXAMPLES
from chosen import mostly_nightly
from submitted import AGENT, STRATEGY, hand_in

from othello_lab import Color, Limits, Position
from othello_lab.__main__ import main
from othello_lab.agents.external.submission import Submission, submissions
from othello_lab.core.game import DIED, UNFIT, PlayerFailure
from othello_lab.core.system.settings import ConfigError

ODD = "pattern = '\\d'  # a warning\n"
TRAP = "raise SystemExit('this must not be run')\n"
MAIN, PART = "public static void main(String[] words) {}", "int main = 3;"
PAIR = "def one(player, board): ...\ndef two(player, board): ...\n"


def only(folder: Path, protocol: str = "file") -> dict[str, str]:
    """The settings of the one submission in a folder."""
    ((name, settings),) = submissions(str(folder), protocol).items()
    assert settings["_target_"] == "othello_lab.agents.external.Submission"
    assert name == "anna"
    return settings


def write(folder: Path, files: dict[str, str], executable: str = "") -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name == executable:
            path.chmod(0o755)
    return folder


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scratch: Path) -> Any:
    """Make the agent of the one submission in a folder; it is closed in the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    agents = []

    def make(folder: Path, protocol: str = "file") -> Submission:
        (settings,) = submissions(str(folder), protocol).values()
        settings = {key: value for key, value in settings.items() if key != "_target_"}
        agents.append(Submission(**settings))
        return agents[-1]

    yield make
    os.chdir(tmp_path)
    for agent in agents:
        agent.close()
    assert not list(scratch.iterdir())


@pytest.mark.parametrize(
    ("files", "executable", "protocol", "played"),
    [
        ({"anna.py": TRAP + AGENT}, "", "python", "{}/anna.py:First"),
        ({"anna.py": ODD + TRAP + STRATEGY}, "", "python", "{}/anna.py:strategy"),
        ({"anna.py": PAIR + "def anna(player, board): ..."}, "", "python", "{}/anna.py:anna"),
        ({"anna.py": PAIR, "anna.yaml": "target: anna.py:two"}, "", "python", "{}/anna.py:two"),
        ({"anna.py": "class A(Agent): ...\nclass B(A): ..."}, "", "python", "{}/anna.py:B"),
        ({"anna.py": PAIR + "if __name__ == '__main__': ..."}, "", "file", "python3 anna.py"),
        ({"anna.py": PAIR}, "anna.py", "file", "./anna.py"),
        ({"anna": TRAP}, "anna", "file", "./anna"),
        ({"anna": TRAP, "anna.yaml": "protocol: line"}, "anna", "line", "./anna"),
        ({"anna.yaml": "command: java Anna"}, "", "file", "java Anna"),
        ({"anna/anna.py": AGENT, "anna/more.py": TRAP}, "", "python", "{}/anna/anna.py:First"),
        ({"anna/bot": TRAP, "anna/book.py": TRAP}, "anna/bot", "file", "./bot"),
        ({"anna/Anna.java": MAIN, "anna/Board.java": MAIN}, "", "file", "java Anna"),
        ({"anna/Bot.java": MAIN, "anna/Board.java": PART}, "", "file", "java Bot"),
        ({"anna/bot.c": MAIN, "anna/board.c": PART}, "anna/board.c", "file", "./bot"),
        (
            {"anna/a.py": PAIR, "anna/submission.yaml": "target: a.py:one", "anna/b.py": ""},
            "",
            "python",
            "{}/anna/a.py:one",
        ),
        (
            {"anna/Anna.class": "", "anna/submission.yaml": "protocol: line\ncommand: java Anna"},
            "",
            "line",
            "java Anna",
        ),
    ],
)
def test_what_is_handed_in_is_told_apart(
    files: dict[str, str], executable: str, protocol: str, played: str, tmp_path: Path
) -> None:
    write(tmp_path, files | {"README.md": "", ".hidden": "", "notes.txt": ""}, executable)
    settings = only(tmp_path)
    assert settings["protocol"] == protocol
    key = "target" if protocol == "python" else "command"
    assert settings[key] == played.format(tmp_path)


@pytest.mark.parametrize(
    ("name", "compiler", "command"),
    [
        pytest.param("bot.c", "cc", "./bot"),
        pytest.param("Bot.java", "javac", "java Bot", marks=pytest.mark.integration),
    ],
)
@pytest.mark.parametrize("is_right", [True, False])
def test_sources_are_compiled(
    name: str, compiler: str, command: str, is_right: bool, tmp_path: Path, made: Any
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    folder = tmp_path / "submissions"
    write(folder, {name: (EXAMPLES / name).read_text() if is_right else "this is no program"})
    agent, start = made(folder, "line"), Position.start()
    assert (agent.command, agent.source) == (command, name)
    if is_right:
        agent.begin_game(Color.BLACK, start, 1)
        assert agent.decide(start, Limits()).move in start.moves
    else:
        with pytest.raises(PlayerFailure, match=f"{compiler} .*(?s:.*)error: ") as caught:
            agent.begin_game(Color.BLACK, start, 1)
        assert caught.value.reason == UNFIT
    assert [path.name for path in folder.iterdir()] == [name]  # nothing is compiled there


SOURCES = {
    "javac": {
        "Zoe.java": "class Zoe { public static void main(String[] a) { new Board(); } }",
        "Board.java": "class Board { Board() { System.err.println(3); System.exit(7); } }",
    },
    "cc": {
        "zoe.c": "int board(void); int main(void) { return board(); }",
        "board.c": "int board(void) { return 7; }",
        "test.c": "int main(void) { return 0; }",
    },
}


@pytest.mark.parametrize("compiler", ["cc", pytest.param("javac", marks=pytest.mark.integration)])
def test_all_sources_of_a_folder_are_compiled(compiler: str, tmp_path: Path, made: Any) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    write(tmp_path / "handed" / "zoe", SOURCES[compiler])
    with pytest.raises(PlayerFailure) as caught:
        made(tmp_path / "handed").begin_game(Color.BLACK, Position.start("wpi"), 1)
    assert caught.value.reason == DIED
    assert "exit code 7" in caught.value.detail
    assert "zoe.yaml with protocol: line" in caught.value.detail
    assert compiler == "cc" or caught.value.detail.endswith("\n3")


def test_programs_of_which_nothing_is_told_play_as_is_asked(tmp_path: Path) -> None:
    write(tmp_path, {"anna": ""}, "anna")
    assert only(tmp_path, "line")["protocol"] == "line"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"anna.py": "def f(:"}, "anna.py, line 1: invalid syntax"),
        ({"anna.py": "a = 1\0"}, "anna.py, "),
        ({"anna.py": "x = " + "(" * 10_000}, "anna.py, "),
        ({"anna.py": "class A(" + "-" * 5_000 + "1): ..."}, "anna.py, "),
        ({"anna.py": "#" * (1 << 20) + "\n"}, "anna.py: 1,048,577 bytes"),
        ({"anna.py": PAIR}, "anna.py has one, two"),
        ({"anna": "hello"}, "anna is neither executable (chmod +x) nor Python"),
        (
            {"anna/a.py": "", "anna/b.py": ""},
            "anna/ has 2 Python files (a.py, b.py): give the folder the name of the one to start, "
            "or name its command or target in anna/submission.yaml",
        ),
        (
            {"anna/A.java": "class A {}", "anna/B.java": "class B {}"},
            "anna/ has 2 Java or C files (A.java, B.java): give the folder the name",
        ),
        ({"anna/README": ""}, "anna/ has no executable, Python, Java or C file: name its command"),
        ({"anna": "", "anna.yaml": "[1"}, "anna.yaml cannot be read: while parsing"),
        ({"anna": "", "anna.yaml": "line"}, "anna.yaml: key: value is needed, of protocol, comm"),
        ({"anna": "", "anna.yaml": "protocol: gtp"}, "unknown protocol 'gtp'; choose from file, l"),
        ({"anna": "", "anna.yaml": "comand: x"}, "unknown key 'comand'; choose from protocol, co"),
        ({"anna": "", "anna.yaml": "command: 3"}, "anna.yaml: command=3 is no text"),
        ({"anna.py": "", "anna.yaml": "protocol: python"}, "anna.py has neither a class of Agent"),
    ],
)
def test_what_is_unclear_loses_with_the_reason(
    files: dict[str, str], problem: str, tmp_path: Path
) -> None:
    settings = only(write(tmp_path, files))
    assert settings["protocol"] == "unclear"
    assert problem in settings["problem"]
    assert "\n" not in settings["problem"]
    settings = {key: value for key, value in settings.items() if key != "_target_"}
    with pytest.raises(PlayerFailure) as fault:
        Submission(**settings).begin_game(Color.BLACK, Position.start(), 1)
    assert (fault.value.reason, fault.value.detail) == (UNFIT, settings["problem"])


def test_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, {"anna": "", "anna.py": AGENT, "be\nrt.py": AGENT}, "anna")
    assert list(submissions(str(tmp_path))) == ["anna", "anna.py", r"be\nrt"]  # each in one line


@pytest.mark.parametrize("file", [b"caf\xe9.py", b"caf\xe9/a.py", b"bar/caf\xe9.py"])
def test_a_name_in_another_encoding_refuses_its_submission_alone(
    file: bytes, tmp_path: Path
) -> None:
    write(tmp_path, {"anna/anna.py": AGENT})
    (tmp_path / "anna" / os.fsdecode(b"caf\xe9.dat")).touch()  # which is no matter
    path = tmp_path / os.fsdecode(file)
    path.parent.mkdir(exist_ok=True)
    path.write_text(AGENT)
    _, refused = (line_up := submissions(str(tmp_path)))
    assert refused in (r"caf\udce9", "bar")
    assert line_up[refused]["protocol"] == "unclear"
    assert r"caf\udce9" in line_up[refused]["problem"]
    assert "UTF-8" in line_up[refused]["problem"]
    assert line_up["anna"]["protocol"] == "python"
    for text in (refused, *line_up[refused].values()):
        text.encode()  # into the record


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for name, said in (("none", "No such"), ("file", "Not a dir"), ("empty", "no program")):
        with pytest.raises(ConfigError, match=f"folder={tmp_path / name}: .*{said}"):
            submissions(str(tmp_path / name))
    with pytest.raises(ConfigError, match=r"'gtp'.* file, line"):
        submissions(str(tmp_path), "gtp")


def test_it_plays_in_a_copy_which_is_removed(tmp_path: Path, made: Any) -> None:
    trouble = "from pathlib import Path; Path('written').write_text(Path('rules.py').read_text())"
    (name,) = hand_in(tmp_path / "in", ["strategy"], trouble={"strategy": trouble})
    agent, start = made(tmp_path / "in"), Position.start()
    agent.begin_game(Color.BLACK, start, 1)
    scratch = Path.cwd()
    agent.decide(start, Limits())
    assert (scratch / "written").exists()
    assert not (tmp_path / "in" / name / "written").exists()


def test_folders_in_each_other_without_end_are_not_copied(tmp_path: Path, made: Any) -> None:
    write(tmp_path / "handed", {"anna/anna.py": STRATEGY})
    tmp_path.joinpath("handed", "anna", *"d" * 101).mkdir(parents=True)
    with pytest.raises(PlayerFailure, match="more than 100 folders in each other"):
        made(tmp_path / "handed").begin_game(Color.BLACK, Position.start(), 1)


# ------------------------------------------------------------------ the check of each kind


def check(*words: str) -> int:
    return main(["agents", "check", *words])


def test_a_folder_has_a_line_for_each_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand_in(tmp_path, ["missing", "data", "dying"])
    assert check(f"folder={tmp_path}", "limit=2") == 1
    lines = capsys.readouterr().out.splitlines()
    for line, words in zip(
        lines,
        (
            ["unclear", "failed", "start", "data1.bin"],
            ["file", "./dying2", "failed", "starts", "died", ".in"],
            ["missing0", "missing0.py:First", "failed"],
            ["3 submissions", "3 failed", "data1, dying2, missing0"],
        ),
        strict=True,
    ):
        assert all(word in line for word in words), line


def test_one_program_shows_its_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zoe.py").write_text(AGENT.format(trouble="return Decision(0)"))
    monkeypatch.chdir(tmp_path)
    assert check("zoe.py") == 1
    out = capsys.readouterr().out
    assert "zoe.py:First" in out.splitlines()[0]
    assert out.rindex(" ok   ") < out.index("moves       failed")  # failed ones are last
    assert "answered a1" in out


NAMES = ["anna.c", "bert", "carla.py", "dora.py", "emil.sh"]


@pytest.mark.integration
@pytest.mark.parametrize("name", mostly_nightly(NAMES, ["carla.py"]))
def test_the_examples_are_right(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix, compiler in ((".c", "cc"), ("bert", "javac")):
        if name.endswith(suffix) and shutil.which(compiler) is None:
            pytest.skip(f"needs {compiler}")
    monkeypatch.chdir(EXAMPLES / "class")
    assert check(name) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.endswith(f"{name} is ok\n")


def test_code_of_a_submission_is_run_apart_and_closed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its import nor its moves reach this process or its files."""
    secret = tmp_path / "secret"
    secret.write_text("of the teacher")
    handed = tmp_path / "handed"
    handed.mkdir()
    spy = f"import os\nos.environ['SEEN'] = open({str(secret)!r}).read()\n"
    (handed / "zoe.py").write_text(spy + AGENT.format(trouble="pass"))
    assert check(f"folder={handed}") == 1
    assert "SEEN" not in os.environ
    assert "Permission denied" in capsys.readouterr().out
