"""Bounds of the control groups of this process, as containers and services set them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def own_groups(controller: str, groups: Path = GROUPS) -> Iterator[Path]:
    """Yield the folders of a controller's groups that this process may be in, of both versions of
    control groups: its own, and those above."""
    folders = {groups: None, groups / controller: None}
    with suppress(OSError):
        for line in OWN.read_text(encoding="utf-8").splitlines():
            number, controllers, path = line.split(":", 2)
            if number == "0" or controller in controllers.split(","):
                top = groups if number == "0" else groups / controller
                group = Path(path.lstrip("/"))
                folders |= dict.fromkeys(top / part for part in (group, *group.parents))
    yield from folders


def numbers(folder: Path, *names: str) -> list[int] | None:
    """Return the numbers in these files of a group; None where there is no such file, or no bound
    in it (``max``)."""
    with suppress(OSError, ValueError):
        return [int(word) for name in names for word in (folder / name).read_text("ascii").split()]
    return None


def processor_quota(groups: Path = GROUPS) -> float | None:
    """Return the processors that this process and others of its groups may use together, if that is
    bounded."""
    known = []
    for folder in own_groups("cpu", groups):
        for files in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
            values = numbers(folder, *files)
            if values and len(values) == 2 and min(values) > 0:
                known.append(values[0] / values[1])
    return min(known, default=None)
