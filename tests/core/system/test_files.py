"""Files from outside: what is no file, or too much, is refused at once by every command."""

from __future__ import annotations

import io
import os
import py_compile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from refusals import refuses

from othello_lab.agents.loading import load_module
from othello_lab.core.system import control_groups, processes
from othello_lab.core.system.control_groups import processor_quota
from othello_lab.core.system.files import (
    UnreadableFile,
    make_folder,
    open_file,
    open_to_add,
    read_bytes,
    read_text,
    write_file,
    writing,
)
from othello_lab.core.system.plain_yaml import parse_yaml
from othello_lab.core.system.settings import ConfigError

KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "fifo": (os.mkfifo, "a FIFO"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "a device"),
    "large": (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 1 << 34), "bytes"),
}


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with files of each kind for each ending."""
    monkeypatch.chdir(tmp_path)
    for ending in ("", ".py", ".yaml", ".wtb"):
        for name, (make, _) in KINDS.items():
            make(tmp_path / f"{name}{ending}")
    return tmp_path


def test_a_refusal_is_an_error_of_the_system_and_of_a_setting(tmp_path: Path) -> None:
    for error in (OSError, ConfigError):
        with pytest.raises(error, match=f"{tmp_path}: a folder"):
            open_file(tmp_path)
    with pytest.raises(UnreadableFile, match="not the name of a file"):
        open_file("a\0b")
    with pytest.raises(UnreadableFile, match="more than 9 bytes"):
        read_bytes("/proc/self/status", 9)  # whose size is not told


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A link, and what is no file, stay, and nothing is left of half a file."""
    path = tmp_path / "a"
    path.write_text("old")
    umask = os.umask(0o027)
    try:
        write_file(path, "\u00e9")
        write_file(tmp_path / "own", b"", durable=True, mode=0o600)
    finally:
        os.umask(umask)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "own")] == [0o640, 0o600]
    with pytest.raises(TypeError), writing(path) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]
    to_itself = partial(Path.symlink_to, target=path)
    for name, make in {"fifo": os.mkfifo, "folder": os.mkdir, "link": to_itself}.items():
        make(tmp_path / name)
        for change in (lambda path: write_file(path, ""), open_to_add):
            with pytest.raises(UnreadableFile, match=f"{name}: a "):
                change(tmp_path / name)
    with pytest.raises(UnreadableFile, match="a link"):
        make_folder(tmp_path / "link")
    with pytest.raises(OSError, match=f"too long: '{tmp_path}/n"):
        write_file(tmp_path / ("n" * 300), "")
    assert path.read_bytes() == "\u00e9".encode()
    assert not list(tmp_path.glob(".*"))


def test_a_text_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfone: 1\r\ntwo: caf\xc3\xa9\r\n")
    assert read_text(path) == "one: 1\ntwo: café\n"
    path.write_bytes(b"one: 1\ntwo: caf\xe9\n")
    with pytest.raises(UnreadableFile, match=r"line 2: byte 0xe9 .*save the file as UTF-8"):
        read_text(path)


def test_no_byte_code_beside_a_file_is_run_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("NAME = 'else'")
    os.utime(path, (1, 1))
    py_compile.compile(str(path))
    path.write_text("NAME = 'mine'")
    os.utime(path, (1, 1))
    assert load_module(str(path)).NAME == "mine"


DUEL = "run agents=duel agent@second=random agent@first"
COMMANDS = [
    f"{DUEL}=alphabeta first.evaluation=patterns first.evaluation.weights=./{{}}.npz",
    "agents evaluate f5 --evaluation ./{}.py:hollow",
    "agents solve ./{}",
    "agents check ./{}.py",
    "agents check ./{}.py:Corners",
    f"{DUEL}=./{{}}.yaml",
    f"{DUEL}=greedy openings=file openings.file={{}}",
    f"{DUEL}=pvs first.probcut=./{{}}.yaml",
    "play review {}",
    "play replay {}.wtb",
    "positions {}.wtb",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_with_a_path_refuses_it(
    command: str, bad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for kind, (_, why) in KINDS.items():
        refuses(command.format(kind).split(), kind, why)
    assert not list(bad.glob("results*"))


AGAIN = "\n".join(f"a{n}: &a{n} [{', '.join(10 * [f'*a{n - 1}'])}]" for n in range(1, 9))
YAMLS = {
    "too often": f"_target_: othello_lab.RandomAgent\na0: &a0 [1]\n{AGAIN}".encode(),
    "line 2: byte 0xe9": b"_target_: othello_lab.RandomAgent\n# caf\xe9\n",
}


@pytest.mark.parametrize("why", YAMLS)
def test_a_yaml_that_cannot_be_read_is_named(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a folder of YAMLs, where nobody has asked for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf" / "agent").mkdir(parents=True)
    path = tmp_path / "conf" / "agent" / "mine.yaml"
    path.write_bytes(YAMLS[why])
    name = str(path.relative_to(tmp_path))
    for command in (
        f"{DUEL}={path}",
        f"{DUEL}=mine --config-dir conf",
        "match random greedy --config-dir conf",
        "agents list --config-dir conf",
        "play terminal white=mine --config-dir conf",
    ):
        refuses(command.split(), name, why)


@pytest.mark.parametrize(
    "text",
    ["{ ] :", "[" * 100_000, "2026-99-99", "&a [*a]", f"a0: &a0 [1]\n{AGAIN}", "? [a]\n: b"],
)
def test_a_yaml_that_cannot_be_used_is_refused_in_a_line(text: str) -> None:
    assert parse_yaml("a: &a [1, 2.5]\nb: *a\n") == {"a": [1, 2.5], "b": [1, 2.5]}
    with pytest.raises(ValueError, match=r"^[^\n]{5,400}$"):
        parse_yaml(text)


V1 = "cpu/docker/cpu.cfs_quota_us", "cpu/docker/cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("program", "files", "quota"),
    [
        ("0::/\n", {}, None),
        ("0::/\n", {"cpu.max": "max 100000"}, None),
        ("0::/\n", {"cpu.max": "50000 100000"}, 0.5),
        ("0::/job/b\n", {"job/cpu.max": "300000 100000", "job/b/cpu.max": "max 100000"}, 3.0),
        ("3:cpu,cpuacct:/docker/a\n", dict(zip(V1, ("-1", "100000"), strict=True)), None),
        ("3:cpu,cpuacct:/docker/a\n", dict(zip(V1, ("250000", "100000"), strict=True)), 2.5),
    ],
)
def test_a_quota_of_processors_bounds_the_workers(
    program: str,
    files: dict[str, str],
    quota: float | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of both versions of control groups, its own and those above; a part of a processor is one."""
    for name, text in {"own": program, **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(control_groups, "OWN", tmp_path / "own")
    monkeypatch.setattr(processes, "processor_quota", lambda: processor_quota(tmp_path))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8))
    assert processor_quota(tmp_path) == quota
    assert processes.available_cores() == (8 if quota is None else max(1, int(quota)))
    assert processes.quota_note() == (
        f"a quota allows {quota:g} of the 8 processors" if quota else ""
    )


def test_a_system_without_proc_lists_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "has_proc", lambda: False)
    assert processes.descendants([1]) == []
