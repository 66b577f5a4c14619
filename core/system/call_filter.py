"""Filters of system calls (seccomp) for closed processes, made by the library libseccomp.

The kernel runs a filter at each system call of a process and of all that it starts. Filters add up.
Without the library, or on a kernel without filters, everything passes.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from functools import cache
from typing import Any

from othello_lab.core.system.processes import LINUX

_PR_GET_SECCOMP = 21  # linux/prctl.h
_ALLOW, _REFUSE_AS = 0x7FFF0000, 0x00050000  # seccomp.h: the call is made; an error instead
_BAD_ARCHITECTURE = 2  # seccomp.h: the attribute for calls in another architecture's numbers
_CLONE_THREAD = 0x10000  # linux/sched.h
_NAMESPACES = (0x20000, *(1 << bit for bit in range(25, 31)))  # linux/sched.h, CLONE_NEW...
_SIGNALS = (8, 10, 15, 1024, 1026, 1031)
"""Commands of fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY, F_SETPIPE_SZ."""
_PR_SCHED_CORE = 62
_TERMINALS = 0x5401, 0x5460
"""First and last request of ioctl for terminals, among them FIONREAD (asm-generic/ioctls.h)."""

_REACH = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd"),
    *("process_madvise", "perf_event_open", "move_pages", "migrate_pages", "lookup_dcookie"),
    *("shmget", "semget", "msgget", "mq_open", "add_key", "keyctl", "request_key"),
    # their time
    *("sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set", "flock"),
    # a process that is stopped, and wakes
    *("timer_create", "setsid"),
    # other places, and the system
    *("unshare", "setns", "mount", "umount", "umount2", "move_mount", "fsopen", "fsmount"),
    *("open_tree", "mount_setattr", "chroot", "pivot_root", "bpf", "userfaultfd", "personality"),
    *("open_by_handle_at", "quotactl", "acct", "swapon", "swapoff", "reboot", "syslog"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
    *("settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "ioperm", "iopl", "uselib"),
    *("set_mempolicy", "mbind", "nfsservctl", "vm86", "vm86old", "modify_ldt"),
    # files that are open only for reading
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr"),
    *("setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
)
"""Calls that are refused: those that Docker's default profile refuses, and those that reach beyond
a process where Landlock's rules for files do not."""
_OTHER_WAYS = ("memfd_create", "memfd_secret", "io_uring_setup", "clone3")
"""Calls that do not exist for a closed process: whoever asks for them has another way."""


class _Comparison(ctypes.Structure):
    """A condition on an argument of a call: its number, the relation, one or two values."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("relation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def _differs(argument: int, value: int) -> _Comparison:
    return _Comparison(argument, 1, value)


def _has(argument: int, value: int, mask: int = 0xFFFFFFFF) -> _Comparison:
    """The kernel reads 32 bits of most arguments."""
    return _Comparison(argument, 7, mask, value)


def refuse_reach(network: bool) -> None:
    """Refuse the calls that reach beyond a closed process, or wake it when it is stopped: what
    Landlock's rules for files do not cover. network: True to leave sockets alone."""
    rules: list[tuple[str, int, _Comparison | None]] = [
        *((name, errno.EPERM, None) for name in _REACH),
        *((name, errno.ENOSYS, None) for name in _OTHER_WAYS),
        *(("clone", errno.EPERM, _has(0, number, number)) for number in _NAMESPACES),
        *(("fcntl", errno.EPERM, _has(1, number)) for number in _SIGNALS),
        ("ioctl", errno.EPERM, _Comparison(1, 2, _TERMINALS[0])),  # less
        ("ioctl", errno.EPERM, _Comparison(1, 6, _TERMINALS[1])),  # more
        ("prctl", errno.EPERM, _has(0, _PR_SCHED_CORE)),
        # Its own priority, processors and limits are its own.
        ("setpriority", errno.EPERM, _differs(0, 0)),
        ("setpriority", errno.EPERM, _differs(1, 0)),
        ("sched_setaffinity", errno.EPERM, _differs(0, 0)),
        ("prlimit64", errno.EPERM, _differs(0, 0)),
    ]
    if not network:
        rules.append(("socket", errno.EPERM, None))
    _install(rules)


def stay_alone() -> None:
    """Let this process, whatever program it becomes, start threads, but no other process, and
    signal nobody but itself. The error says so: *No child processes*."""
    me = _differs(0, os.getpid())
    _install(
        [
            *((name, errno.ECHILD, None) for name in ("fork", "vfork")),
            ("clone", errno.ECHILD, _has(0, 0, _CLONE_THREAD)),
            ("clone3", errno.ENOSYS, None),
            *((name, errno.EPERM, me) for name in ("kill", "tgkill")),
            *((name, errno.EPERM, me) for name in ("rt_sigqueueinfo", "rt_tgsigqueueinfo")),
            *((name, errno.EPERM, None) for name in ("tkill", "pidfd_send_signal")),
        ]
    )


@cache
def available() -> bool:
    """Return True if this kernel has filters, and this system the library."""
    return _library() is not None and ctypes.CDLL(None).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


@cache
def _library() -> Any:
    if LINUX:
        with suppress(OSError):
            library = ctypes.CDLL("libseccomp.so.2")
            library.seccomp_init.restype = ctypes.c_void_p
            return library
    return None


def _install(rules: list[tuple[str, int, _Comparison | None]]) -> None:
    """Refuse calls by name with an error, if the condition holds; raises OSError."""
    if not available():
        return
    library = _library()
    made = ctypes.c_void_p(library.seccomp_init(_ALLOW))
    try:
        library.seccomp_attr_set(made, _BAD_ARCHITECTURE, _REFUSE_AS | errno.EPERM)
        for name, error, condition in rules:
            number = library.seccomp_syscall_resolve_name(name.encode())
            known = number != -1  # a library may be older than a call
            conditions = () if condition is None else (ctypes.byref(condition),)
            if known and library.seccomp_rule_add_array(
                made, _REFUSE_AS | error, number, len(conditions), *(conditions or (None,))
            ):
                raise OSError(errno.EINVAL, f"no filter of {name} can be made")
        if failed := library.seccomp_load(made):
            raise OSError(-failed, os.strerror(-failed))
    finally:
        library.seccomp_release(made)
