"""A Dask cluster that only those can reach who have its certificate, as docs/security.md has it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from processes import await_
from records import content, runs_in

pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[3]
WORDS = ["run", "agents=duel", "agent@first=alphabeta", "agent@second=random", "games=6"]
CERTIFICATE = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=lab"]
CERTIFICATE += ["-keyout", "lab-key.pem", "-out", "lab-cert.pem"]


def settings(folder: Path) -> Path:
    """The file of Dask's settings in docs/security.md, with a certificate made as it says there."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is needed to make a certificate")
    folder.mkdir()
    subprocess.run([openssl, *CERTIFICATE], cwd=folder, check=True, capture_output=True)
    told = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    assert f"openssl {' '.join(CERTIFICATE)}" in told
    yaml = told.partition("```yaml\n")[2].partition("```")[0]
    path = folder / "tls.yaml"
    path.write_text(yaml.replace("/shared/lab-", f"{folder}/lab-"))
    return path


@contextmanager
def python(*words: str, settings: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Python of its own with these settings of Dask's; killed in the end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_CONFIG": str(settings)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *words], env=environment, stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def listening(process: int) -> set[str]:
    """The addresses that a process and its children listen on."""
    psutil = pytest.importorskip("psutil")
    family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    found = [each for member in family for each in member.net_connections("inet")]
    return {each.laddr.ip for each in found if each.status == "LISTEN"}


@pytest.mark.nightly
def test_a_cluster_with_a_certificate_plays_for_those_who_have_it(tmp_path: Path) -> None:
    ours, another = settings(tmp_path / "ours"), settings(tmp_path / "another")
    file = tmp_path / "scheduler.json"
    scheduler = ["scheduler", "--protocol", "tls", "--host", "127.0.0.1", "--port", "0"]
    scheduler += ["--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
    here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    with ExitStack() as stack:

        def started(*words: str, settings: Path = ours) -> subprocess.Popen[bytes]:
            log = tmp_path / f"{words[1]}.log"
            return stack.enter_context(python(*words, settings=settings, log=log))

        processes = [started("dask", *scheduler)]
        await_(lambda: file.exists() and file.stat().st_size)
        address = json.loads(file.read_text())["address"]
        assert address.startswith("tls://127.0.0.1:")
        processes.append(started("dask", "worker", address, "--nthreads", "1", *here))
        dask = [*WORDS, "figures=false", "executor=dask", f"executor.address={address}"]

        stranger = started("experiments", *dask, f"results={tmp_path / 'no'}", settings=another)
        assert stranger.wait(120) == 2
        assert "executor.address" in (tmp_path / "run.log").read_text()
        friend = started("experiments", *dask, f"results={tmp_path / 'tls'}")
        assert friend.wait(120) == 0, (tmp_path / "run.log").read_text()
        assert {host for process in processes for host in listening(process.pid)} == {"127.0.0.1"}
        alone = started("experiments", *WORDS, "figures=false", f"results={tmp_path / 'alone'}")
        assert alone.wait(120) == 0
    (over_tls,), (alone_here,) = runs_in(tmp_path / "tls"), runs_in(tmp_path / "alone")
    assert content(over_tls) == content(alone_here)
