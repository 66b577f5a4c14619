"""The log of a run."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from multiprocessing_logging import MultiProcessingHandler

from othello_lab.experiments.record.log import OUTPUT, entries, logging_to


def test_the_driver_logs_through_it(tmp_path: Path) -> None:
    """What is handled here, whoever has logged it, reaches the file in order."""
    path = tmp_path / "log.txt"
    with logging_to(path, "info"):
        kinds = [type(handler) for handler in logging.getLogger().handlers]
        assert kinds == [MultiProcessingHandler] * 2
        for number in range(100):
            logging.getLogger("lab.test").info("line %d", number)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == [str(number) for number in range(100)]


def test_what_agents_print_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("othello_lab.experiments.record.log.MOST_OUTPUT", 300)
    with logging_to(tmp_path / "log.txt", "error"):
        logging.getLogger("lab.test").error("logged")
        for number in range(100):
            record = logging.makeLogRecord(
                {"name": OUTPUT, "levelno": 20, "msg": f"printed {number}"}
            )
            logging.getLogger(OUTPUT).handle(record)
    assert "logged" in (tmp_path / "log.txt").read_text()
    assert "printed" not in (tmp_path / "log.txt").read_text()
    printed = (tmp_path / "output.txt").read_text()
    assert "game - printed 0\n" in printed
    assert len(printed) < 300


def test_no_file_is_made_where_nothing_is_printed(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log.txt", "info"):
        logging.getLogger("lab.test").info("logged")
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def test_lines_of_an_entry_keep_their_leading_blanks(tmp_path: Path) -> None:
    said = "cc ended\n    3 |     return x;\n      |     ^~~~~~\n\nat"
    with logging_to(tmp_path / "log.txt", "INFO"):
        logging.getLogger("lab.games").warning(said)
        logging.getLogger("lab.games").warning("next")
    texts = [text for _, text in entries(tmp_path / "log.txt")]
    assert [text.replace("\n    ", "\n") for text in texts] == [
        f"lab.games: {said}",
        "lab.games: next",
    ]
