"""A plugin: the processor time of each default test, its processes included.

``pytest --costs`` names the default tests over 1 s and fails if one takes over 3 s. In a run that
compiled kernels it only names them, as a test is charged for what it happens to need first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

NAMED, TOO_MUCH = 1.0, 3.0  # seconds
PROPERTY = "processor seconds"
KERNELS = pytest.StashKey[int]()

_begun = _shared = 0.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--costs",
        action="store_true",
        help=f"name default tests over {NAMED:g} s of processor time, fail over {TOO_MUCH:g} s",
    )


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[Any]:
    global _begun, _shared
    _begun, _shared = processor_seconds(), 0.0
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
    """Charge a fixture that several tests share to none of them."""
    global _shared
    before = processor_seconds()
    result = yield
    if fixturedef.scope != "function":
        _shared += processor_seconds() - before
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[Any]:
    report = yield
    if call.when == "teardown":
        report.user_properties.append((PROPERTY, processor_seconds() - _begun - _shared))
    return report


def kernels() -> int:
    """Return the number of files of machine code in the user's cache."""
    from othello_lab.core.system.user_cache import user_cache

    return sum(1 for _ in user_cache().rglob("*.nbc"))


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[KERNELS] = kernels()


def costs_of(reporter: Any) -> list[tuple[float, str]]:
    """Return (seconds, test) of the default tests over the first bound, the dearest first."""
    rows = [
        (dict(report.user_properties)[PROPERTY], report.nodeid)
        for reports in reporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "teardown"
        and not {"integration", "nightly"} & set(report.keywords)
    ]
    return sorted((row for row in rows if row[0] > NAMED), reverse=True)


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    wanted = session.config.getoption("costs") and reporter and session.exitstatus == 0
    warm = wanted and kernels() == session.config.stash[KERNELS]
    if warm and any(seconds > TOO_MUCH for seconds, _ in costs_of(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return (yield)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    rows = costs_of(terminalreporter) if config.getoption("costs") else []
    if not rows:
        return
    terminalreporter.section(f"default tests over {NAMED:g} s of processor time")
    for seconds, test in rows:
        terminalreporter.line(f"{seconds:6.2f} s  {test}")
    if kernels() != config.stash[KERNELS]:
        terminalreporter.line("Kernels were compiled in this run, so these times are not judged.")
    elif rows[0][0] > TOO_MUCH:
        terminalreporter.line(
            f"A default test may take {TOO_MUCH:g} s: make it smaller, or mark it integration."
        )
