"""Run the compiled filter in a small BPF interpreter: every number that is not allowed is refused."""

from __future__ import annotations

import errno
import struct
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli.sandbox import seccomp
from attncli.sandbox.policy import CPU, WorkerPolicy
from attncli.sandbox.seccomp import AUDIT_ARCH, NEWEST_KNOWN, NUMBERS

ALLOW, KILL = 0x7FFF0000, 0x80000000
PID = 2
MACHINES = sorted(NUMBERS)
SPECIAL = {"fcntl", "clone", "clone3", "kill", "tgkill", "prctl", "ioctl", "prlimit64", "mmap", "open", "openat"}


compiled = cache(seccomp.compile_filter)


def answer(machine: str, number: int, *arguments: int, arch: int | None = None, may_write: bool = True) -> int:
    """Return the filter's answer to a call."""
    return answer_of(CPU, machine, number, *arguments, arch=arch, may_write=may_write)


def answer_of(
    policy: WorkerPolicy, machine: str, number: int, *arguments: int, arch: int | None = None, may_write: bool = True
) -> int:
    """Return the answer of a policy's filter."""
    code = compiled(machine, PID, may_write, policy)
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, AUDIT_ARCH[machine] if arch is None else arch, 0, *words)
    lines = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
    at = accumulator = 0
    while True:
        operation, jump_true, jump_false, value = lines[at]
        at += 1
        if operation == 0x06:
            return value
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            accumulator &= value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x25: accumulator > value}[operation]
            at += jump_true if holds else jump_false


def refusal(error: int = errno.EPERM) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_allowed_by_name_or_refused(machine: str) -> None:
    numbers = {number: name for name, number in NUMBERS[machine].items()}
    for number in set(range(NEWEST_KNOWN + 1)) - {NUMBERS[machine].get(name) for name in SPECIAL}:
        expected = ALLOW if numbers.get(number, "") in seccomp.ALLOWED else refusal()
        assert answer(machine, number) == expected, (number, numbers.get(number))


@pytest.mark.parametrize("machine", MACHINES)
@given(new=st.integers(NEWEST_KNOWN + 1, 2**30 - 1), number=st.integers(0, 500), arch=st.integers(0, 2**32 - 1))
def test_new_calls_do_not_exist_and_another_architecture_kills(machine: str, new: int, number: int, arch: int) -> None:
    assert answer(machine, new) == refusal(errno.ENOSYS)
    assert arch == AUDIT_ARCH[machine] or answer(machine, number, arch=arch) == KILL


@given(st.integers(2**30, 2**32 - 1))
def test_x32_calls_kill(number: int) -> None:
    assert answer("x86_64", number) == KILL


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=st.integers(0, 2**64 - 1))
@example(flags=0x3D0F00)  # a thread of the C library
def test_clone_makes_threads_and_nothing_else(machine: str, flags: int) -> None:
    is_thread = flags & 0x10000 and not flags & 0x7E020000
    assert answer(machine, NUMBERS[machine]["clone"], flags) == (ALLOW if is_thread else refusal())


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["kill", "tgkill"])
@given(target=st.integers(-(2**31), 2**31 - 1))
def test_only_the_worker_itself_is_signalled(machine: str, name: str, target: int) -> None:
    expected = ALLOW if target == PID else refusal()
    assert answer(machine, NUMBERS[machine][name], target & 0xFFFFFFFF) == expected


@pytest.mark.parametrize("machine", MACHINES)
@given(pointer=st.integers(0, 2**64 - 1))
def test_limits_are_read_and_never_set(machine: str, pointer: int) -> None:
    expected = ALLOW if pointer == 0 else refusal()
    assert answer(machine, NUMBERS[machine]["prlimit64"], 0, 2, pointer) == expected


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=st.integers(0, 2**32 - 1))
def test_shared_or_growing_memory_and_without_landlock_writing_are_refused(machine: str, flags: int) -> None:
    expected = refusal() if flags & 0x21 == 0x21 or flags & 0x100 else ALLOW
    assert answer(machine, NUMBERS[machine]["mmap"], 0, 4096, 3, flags) == expected
    openat, expected = NUMBERS[machine]["openat"], refusal() if flags & 0x400243 else ALLOW
    assert answer(machine, openat, 0, 0, flags, may_write=False) == expected
    assert answer(machine, openat, 0, 0, flags, may_write=True) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_typing_into_the_terminal_is_refused_and_nothing_that_leads_out_is_on_the_list(machine: str) -> None:
    ioctl = NUMBERS[machine]["ioctl"]
    assert answer(machine, ioctl, 0, 0x5412) == refusal()
    assert answer(machine, ioctl, 0, 0x5401) == ALLOW
    never = "socket connect bind execve execveat fork vfork ptrace process_vm_readv memfd_create io_uring_setup bpf "
    never += "mount unshare setns symlink link chmod fchmod chown truncate unlink rename mkdir setuid landlock_add_rule"
    assert set(f"{never} pidfd_open keyctl".split()).isdisjoint(seccomp.ALLOWED)


def test_a_machine_without_a_table_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert seccomp.why_unavailable() == "no system-call table for riscv64"
