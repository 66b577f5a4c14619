"""Landlock: rules of the Linux kernel on the reach of a process and of all that it forks.

A process gives up rights for itself; each call nests a further domain inside of those that hold
already. Documentation/userspace-api/landlock.rst of the kernel explains the numbers.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable
from functools import cache
from typing import Any

from othello_lab.core.system.processes import LINUX

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_GET_VERSION = 1  # flag
_BENEATH = 1  # a rule for all files beneath a folder
_RULESET = struct.Struct("QQQ")  # handled access to files, to the network; scopes
_RULE = struct.Struct("=Qi")  # allowed access; the folder
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE = 1 << 4 | 1 << 5  # folders, files
_MAKE = 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12  # folders, files, pipes, links; not sockets, devices
_REFER = 1 << 13  # version 2: move to another folder
_TRUNCATE = 1 << 14  # version 3
_READS = _EXECUTE | _READ_FILE | _READ_FOLDER
_WRITES = _READ_FILE | _READ_FOLDER | _WRITE_FILE | _REMOVE | _MAKE | _REFER | _TRUNCATE
_OF_FILES = _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
_TCP = 3  # version 4: bind and connect
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1  # version 6


@cache
def version() -> int:
    """Return the version of Landlock that this kernel has; 0 for none."""
    if not LINUX:
        return 0
    number = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION)
    return max(0, int(number))


def open_only(
    reads: Iterable[str], lists: Iterable[str], writes: Iterable[str], network: bool
) -> None:
    """Close all files to this process but these, and signals to others. Without Landlock nothing.

    reads, writes: files, and folders with all their content. lists: folders; the names of their
    files can be read, not the files. network: True to leave it open.
    """
    if not version():
        return
    handled = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, 1 << 15)):  # the last: devices' ioctl
        handled |= right if version() >= since else 0
    tcp = 0 if network or version() < 4 else _TCP
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version() >= 6 else 0
    libc = _libc()
    size = _RULESET.size if scopes else 16 if tcp else 8
    packed = _RULESET.pack(handled, tcp, scopes)
    ruleset = libc.syscall(_CREATE_RULESET, packed, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock makes no rules")
    try:
        for paths, access in ((reads, _READS), (lists, _READ_FOLDER), (writes, _WRITES)):
            for path in paths:
                _add(libc, ruleset, path, access & handled)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if libc.syscall(_RESTRICT_SELF, ruleset, 0):
            raise OSError(ctypes.get_errno(), "Landlock's rules cannot be entered")
    finally:
        os.close(ruleset)


def _add(libc: Any, ruleset: int, path: str, access: int) -> None:
    """Add a rule for a file or folder, if there is one."""
    with contextlib.suppress(OSError):
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):
                access &= _OF_FILES
            libc.syscall(_ADD_RULE, ruleset, _BENEATH, _RULE.pack(access, folder), 0)
        finally:
            os.close(folder)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
