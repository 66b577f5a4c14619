"""Files from outside: what is no file, or too much, is refused at once by every command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from refusals import refuses

from othello_lab.__main__ import main
from othello_lab.core.system import control_groups
from othello_lab.core.system.control_groups import processor_quota
from othello_lab.core.system.files import UnreadableFile, open_file, read_bytes, read_text
from othello_lab.core.system.processes import available_cores, descendants, quota_note
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


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_a_sensible_size_is_refused(kind: str, bad: Path) -> None:
    for read in (read_bytes, read_text, lambda path: open_file(path, 1 << 30)):
        with pytest.raises(UnreadableFile, match=f"{bad / kind}: .*{KINDS[kind][1]}"):
            read(bad / kind)
    with pytest.raises(UnreadableFile, match="a folder") as refused:
        open_file(bad)
    assert isinstance(refused.value, OSError) and isinstance(refused.value, ConfigError)
    with pytest.raises(UnreadableFile, match="not the name of a file"):
        open_file("a\0b")
    with pytest.raises(FileNotFoundError):
        open_file(bad / "none")


def test_a_text_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfone: 1\r\ntwo: caf\xc3\xa9\r\n")
    assert read_text(path) == "one: 1\ntwo: café\n"
    path.write_bytes(b"one: 1\ntwo: caf\xe9\n")
    with pytest.raises(UnreadableFile, match=r"line 2: byte 0xe9 .*save the file as UTF-8"):
        read_text(path)


DUEL = "run agents=duel agent@second=random agent@first"
COMMANDS = [
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
TOLD = "study claims study.claims={}.yaml"


@pytest.mark.parametrize("command", [*COMMANDS, pytest.param(TOLD, marks=pytest.mark.integration)])
def test_every_command_with_a_path_refuses_it(
    command: str, bad: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, (_, why) in KINDS.items():
        if (kind, command.split()[1]) != ("large", "check"):  # which is looked at by its owner
            refuses(main, command.format(kind).split(), capsys, kind, why)
    assert not list(bad.glob("results*"))


AGAIN = "\n".join(f"a{n}: &a{n} [{', '.join(10 * [f'*a{n - 1}'])}]" for n in range(1, 9))
YAMLS = {
    "too often": f"_target_: othello_lab.RandomAgent\na0: &a0 [1]\n{AGAIN}".encode(),
    "line 2: byte 0xe9": b"_target_: othello_lab.RandomAgent\n# caf\xe9\n",
}


@pytest.mark.parametrize("why", YAMLS)
def test_a_yaml_that_cannot_be_read_is_named(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
        refuses(main, command.split(), capsys, name, why)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"cpu.max": "max 100000"}, None),
        ({"cpu.max": "50000 100000"}, 0.5),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ({"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"}, 1.0),
    ],
)
def test_a_quota_of_processors_bounds_the_workers(
    files: dict[str, str], quota: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both versions of control groups; a part of a processor is one worker."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    assert processor_quota(tmp_path) == quota
    monkeypatch.setattr(
        "othello_lab.core.system.processes.processor_quota", lambda: processor_quota(tmp_path)
    )
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(8))
    assert available_cores() == (8 if quota is None else 1)
    assert quota_note() == (
        "" if quota is None else f"a quota allows {quota:g} of the 8 processors"
    )


def test_groups_above_the_own_one_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_groups, "OWN", tmp_path / "cgroup")
    (tmp_path / "cgroup").write_text("3:cpu,cpuacct:/docker/a\n0::/job.slice/b\n")
    (tmp_path / "job.slice").mkdir()
    (tmp_path / "job.slice" / "cpu.max").write_text("300000 100000")
    assert processor_quota(tmp_path) == 3.0
    assert tmp_path / "cpu" / "docker" / "a" in control_groups.own_groups("cpu", tmp_path)


def test_a_system_without_proc_lists_no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("othello_lab.core.system.processes.has_proc", lambda: False)
    assert descendants([1]) == []
