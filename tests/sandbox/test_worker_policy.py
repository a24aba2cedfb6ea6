"""Tell the policies for a GPU from the CPU's, without a GPU: only the initialisation of CUDA is left out."""

from __future__ import annotations

import errno
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from attncli.errors import JudgeFailed
from attncli.sandbox import launch, namespaces, policy, seccomp, worker
from attncli.sandbox.policy import CPU, CUDA, CUDA_KERNELS, REHEARSED, REHEARSED_KERNELS, WorkerPolicy
from attncli.sandbox.seccomp import NUMBERS
from attncli.sandbox.zygote_client import Reply, Worker, ZygoteClient

from .conftest import MEMORY_MIB, SECONDS, descendants, gone, verdict, zygote_pid
from .test_hostile import RAW_CALLS, SYSTEM_CALL
from .test_seccomp import ALLOW, SPECIAL, answer_of, refusal

TYPED_INTO_THE_TERMINAL, OF_A_DRIVER = 0x5412, 0xC020462A
SHARED, ANONYMOUS = 0x01, 0x20


def test_the_limits_for_a_gpu_leave_out_memory_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {"DATA": 384, "AS": 384 + 8192, "MEMLOCK": 0}
    rest = {"STACK": 64, "CORE": 0, "CPU": 900}
    assert _limits(monkeypatch, CPU) == memory | rest | {"FSIZE": 0, "NOFILE": 64, "NPROC": 64}
    assert _limits(monkeypatch, CUDA) == rest | {"FSIZE": 1024, "NOFILE": 1024, "NPROC": 256}


def _limits(monkeypatch: pytest.MonkeyPatch, of: WorkerPolicy) -> dict[str, int]:
    """Return the limits set, by name; those of memory and files in MiB."""
    names = "DATA AS STACK CORE FSIZE MEMLOCK NOFILE CPU NPROC".split()
    kinds = {getattr(namespaces.resource, f"RLIMIT_{name}"): name for name in names}
    found: dict[str, int] = {}
    monkeypatch.setattr(namespaces, "private_bytes", lambda: 0)
    monkeypatch.setattr(namespaces, "address_bytes", lambda: 0)
    monkeypatch.setattr(namespaces, "_stack_bytes", lambda: namespaces.STACK_BYTES)
    monkeypatch.setattr(namespaces, "_kernel_version", lambda: (6, 1))
    monkeypatch.setattr(namespaces, "_limit", lambda kind, value: found.update({kinds[kind]: value}))
    namespaces.apply(384, True, of)
    return {name: value >> 20 if value > 4096 else value for name, value in found.items()}


def test_for_a_gpu_the_calls_that_are_listed_are_allowed_and_no_others_that_lead_out() -> None:
    apart = SPECIAL | {"socket", "connect", "unlink", "unlinkat"}
    never = "socket connect ptrace bpf mount unshare setns pidfd_open io_uring_setup keyctl".split()
    for of in (CUDA, CUDA_KERNELS):
        assert set(never).isdisjoint(of.calls)
        for machine, numbers in NUMBERS.items():
            for name in numbers.keys() - apart:
                listed = name in seccomp.ALLOWED or name in of.calls
                assert answer_of(of, machine, numbers[name]) == (ALLOW if listed else refusal()), (of.name, name)
    assert {"execve", "fork", "vfork"}.isdisjoint(CUDA.calls)


def test_a_driver_may_be_spoken_to_and_a_terminal_not_typed_into() -> None:
    ioctl, fcntl = NUMBERS["x86_64"]["ioctl"], NUMBERS["x86_64"]["fcntl"]
    assert answer_of(CPU, "x86_64", ioctl, 3, OF_A_DRIVER) == refusal()
    assert answer_of(CUDA, "x86_64", ioctl, 3, OF_A_DRIVER) == ALLOW
    assert answer_of(CUDA, "x86_64", ioctl, 0, TYPED_INTO_THE_TERMINAL) == refusal()
    for command in (1033, 1034):
        assert answer_of(CPU, "x86_64", fcntl, 3, command) == refusal()
        assert answer_of(CUDA, "x86_64", fcntl, 3, command) == ALLOW, "memory files are sealed"
    assert answer_of(CUDA, "x86_64", fcntl, 3, 8) == refusal(), "who gets its signals"


def test_shared_memory_and_processes_are_for_whom_the_policy_says() -> None:
    numbers = NUMBERS["x86_64"]
    for of, shared, forks in ((CPU, False, False), (CUDA, True, False), (CUDA_KERNELS, True, True)):
        mapped = answer_of(of, "x86_64", numbers["mmap"], 0, 4096, 3, SHARED | ANONYMOUS)
        assert (mapped == ALLOW) is shared
        assert (answer_of(of, "x86_64", numbers["clone"], 0x11) == ALLOW) is forks
        assert answer_of(of, "x86_64", numbers["clone"], 0x10000000 | 0x11) == refusal(), "no namespaces"


def test_a_gpu_policy_is_for_the_gpu_and_a_compiler_for_kernels() -> None:
    assert policy.policy_of("cpu", kernel=True) is policy.policy_of("elsewhere") is CPU
    assert policy.policy_of("cuda") is CUDA
    assert policy.policy_of("cuda", kernel=True) == CUDA_KERNELS
    assert policy.policy_of("cuda", kernel=True, cache_folder="/x") == replace(CUDA_KERNELS, cache_folder="/x")
    assert CPU.shares_rules and not CUDA.shares_rules
    assert replace(CPU, reads=("/x",)).shares_rules is False


def test_a_folder_is_laid_over_the_machines_own_for_the_worker_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for name in ("enter_own_mounts", "mount_processes", "mount_memory"):
        monkeypatch.setattr(namespaces, name, lambda *_, name=name: done.append(name))
    # Root would be allowed to mount, and would cover the machine's /dev/shm for everybody.
    for of in (CUDA, CUDA_KERNELS):
        worker._mount(worker.Confinement(64, None, True, False, 1, of))
        assert done == []
    for of in (CUDA_KERNELS, replace(CUDA_KERNELS, names_threads=False)):
        done.clear()
        worker._mount(worker.Confinement(64, None, True, True, 1, of))
        assert done[0] == "enter_own_mounts" and done[-1] == "mount_memory"
        assert ("mount_processes" in done) == of.names_threads


def test_cuda_makes_a_unix_socket_and_hears_that_there_is_nobody_to_connect_to() -> None:
    """CUDA's driver fails with error 304 if it may not make a socket, or if `connect` or `unlink` is forbidden."""
    unix, internet = 1, 2
    for machine, numbers in NUMBERS.items():
        for name in ("socket", "connect", "bind", "listen"):
            assert answer_of(CPU, machine, numbers[name], unix) == refusal()
        assert answer_of(CUDA, machine, numbers["socket"], unix) == ALLOW
        assert answer_of(CUDA, machine, numbers["socket"], internet) == refusal()
        assert answer_of(CUDA, machine, numbers["bind"]) == answer_of(CUDA, machine, numbers["listen"]) == ALLOW
        for of in (CUDA, CUDA_KERNELS):
            assert answer_of(of, machine, numbers["connect"], 3) == refusal(errno.ENOENT)
        assert answer_of(CUDA, machine, numbers["unlinkat"]) == refusal(errno.ENOENT)


WARM_UP_BESIDE_A_GPU = """
import sys
sys.path.insert(0, {attncli!r})
import torch
from sandbox import devices, zygote
torch.backends.cuda.is_built = lambda: True
def run(*_, **__):
    sys.exit("a backward pass")
torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = run
for devices.gpu_is_seen in (lambda patterns: True, lambda patterns: False):
    zygote.warm_up()
    zygote.warm_up_further()
    print("warm", flush=True)
"""


@pytest.mark.slow
def test_beside_a_gpu_the_zygote_runs_no_backward_pass() -> None:
    """The first pass asks for GPUs and starts a thread for each: no worker could be forked, nor CUDA start in one."""
    done = alone(WARM_UP_BESIDE_A_GPU)
    assert done.stdout == "warm\n", done.stderr
    assert done.returncode == 1 and "a backward pass" in done.stderr, "without a GPU there is one"


def alone(script: str) -> subprocess.CompletedProcess[str]:
    source = script.format(attncli=str(Path(policy.__file__).parent.parent))
    command = [sys.executable, "-W", "ignore", "-c", source]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


FIND_NO_GPU_BESIDE_ONE = """
import os, sys
sys.path.insert(0, {attncli!r})
import torch
from sandbox import devices, worker
def count():
    os.write(2, b"a warning of torch")
    print(seen, repr(os.environ["CUDA_VISIBLE_DEVICES"]), flush=True)
torch._C._cuda_getDeviceCount = count
for seen in (False, True):
    devices.backward_starts_gpu = lambda: seen
    worker._find_no_gpu()
    os.write(2, b"the submission's own")
"""


@pytest.mark.slow
def test_a_worker_on_the_cpu_asks_for_gpus_before_the_submission_without_a_word() -> None:
    done = alone(FIND_NO_GPU_BESIDE_ONE)
    assert done.returncode == 0 and done.stdout == "True ''\n"
    assert done.stderr.endswith("the submission's own" * 2) and "a warning of torch" not in done.stderr


def test_a_gpu_is_seen_by_any_of_its_files(tmp_path: Path) -> None:
    """A container may have only the fourth GPU."""
    pattern = f"{tmp_path}/nvidia[0-9]*"
    (tmp_path / "nvidiactl").touch()
    assert not policy.gpu_is_seen([pattern])
    (tmp_path / "nvidia3").touch()
    assert policy.gpu_is_seen(["/nowhere/*", pattern])


@pytest.mark.sandbox
@pytest.mark.parametrize("of", [REHEARSED, REHEARSED_KERNELS], ids=lambda of: of.name)
def test_the_canary_proves_the_layers_that_remain(zygote: ZygoteClient, of: WorkerPolicy) -> None:
    remaining = tuple(layer for layer in zygote.layers if layer != "rlimits")
    assert zygote.layers_under(of) == remaining
    assert "rlimits" in zygote.layers, "the policy for the CPU is not touched by that"


@pytest.mark.sandbox
def test_where_cuda_cannot_begin_one_line_says_so(zygote: ZygoteClient) -> None:
    import torch

    if torch.backends.cuda.is_built():
        pytest.skip("needs a PyTorch that is built without CUDA")
    with pytest.raises(JudgeFailed, match="is built without CUDA") as caught:
        zygote.layers_under(CUDA)
    assert "\n" not in str(caught.value)


REFUSED = {
    "reads a reference": f"def f():\n    open({str(launch.withheld_folders()[0] / 'errors.py')!r}).read()\n",
    "reads /etc/passwd": "def f():\n    open('/etc/passwd').read()\n",
    "reads another process": "def f():\n    open('/proc/1/environ').read()\n",
    "writes": "def f():\n    open('/tmp/hostile', 'w')\n",
    "connects": "import socket\ndef f():\n    socket.socket()\n",
    "makes a namespace": f"{SYSTEM_CALL}def f():\n    {RAW_CALLS['unshare']}\n",
    "changes a mode": "import os\ndef f():\n    os.chmod('/tmp', 0)\n",
}
OPEN = """
import os
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
def f(): assert [number for number in range(3, 64) if is_open(number)] == [3]
"""
LEAVES_A_CHILD = "import os, time\ndef f():\n    if os.fork() == 0: time.sleep(600)\n"


def _called(worker: Worker, source: str) -> tuple[str, str]:
    loaded = worker.load(source.encode(), "submission.py", ["f"], SECONDS)
    assert verdict(loaded) == ("loaded", ""), "nothing is attacked by a file that does not load"
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}
    return verdict(worker.request(header, [], SECONDS))


@pytest.mark.sandbox
@pytest.mark.parametrize("of", [REHEARSED, REHEARSED_KERNELS], ids=lambda of: of.name)
def test_what_leads_out_is_refused_behind_the_layers_for_a_gpu(zygote: ZygoteClient, of: WorkerPolicy) -> None:
    with zygote.worker(MEMORY_MIB, of) as worker:
        for name, source in REFUSED.items():
            reason, words = _called(worker, source)
            assert (reason, words.partition(":")[0]) == ("refused", "PermissionError"), (name, words)
        assert _called(worker, OPEN) == ("result", ""), "the judge's channel alone stays open"


@pytest.mark.sandbox
def test_only_kernels_may_start_a_process_and_it_ends_with_the_worker(zygote: ZygoteClient) -> None:
    with zygote.worker(MEMORY_MIB, REHEARSED) as worker:
        assert _called(worker, LEAVES_A_CHILD)[0] == "refused"
    assert gone(zygote_pid(zygote))
    with zygote.worker(MEMORY_MIB, REHEARSED_KERNELS) as worker:
        assert _called(worker, "def f():\n    pass\n") == ("result", "")
        alone = len(descendants(zygote_pid(zygote)))
        assert _called(worker, LEAVES_A_CHILD) == ("result", "")
        assert len(descendants(zygote_pid(zygote))) == alone + 1
    assert gone(zygote_pid(zygote))


COMPILES = """
import os, subprocess, tempfile
import triton
class Driver:
    def get_current_device(self):
        compile_something()
        raise ValueError("compiled")
def compile_something():
    folder = tempfile.mkdtemp()
    open(folder + "/a.c", "w").close()
    os.rename(folder + "/a.c", folder + "/b.c")
    subprocess.run(["/bin/true"])
@triton.jit
def kernel(n):
    pass
tuned = triton.autotune(configs=[triton.Config({})], key=[])(kernel)
def launch():
    triton.runtime.driver.set_active(Driver())
    kernel[(1,)](1)
def launch_tuned():
    triton.runtime.driver.set_active(Driver())
    tuned[(1,)](1)
def compile_alone():
    compile_something()
"""


@pytest.mark.sandbox
def test_what_the_compiler_does_at_a_launch_is_not_the_learners_doing(zygote: ZygoteClient) -> None:
    """On the first GPU every kernel was rejected for the folders, files and programs of Triton's own compiler."""

    def touched(name: str, says: str) -> list[str]:
        header = {"op": "run", "steps": [{"op": "call", "name": name, "args": []}]}
        reply = worker.request(header, [], SECONDS)
        assert isinstance(reply, Reply) and reply.header.get("text", "") == says, reply
        return list(reply.header["touched"])

    with zygote.worker(MEMORY_MIB, REHEARSED_KERNELS) as worker:
        loaded = worker.load(COMPILES.encode(), "submission.py", ["launch"], SECONDS, kernel=True, device="cuda")
        assert verdict(loaded) == ("loaded", "")
        assert touched("launch", "compiled") == touched("launch_tuned", "compiled") == []
        assert {"subprocess.Popen", "os.mkdir", "open", "os.rename"} <= set(touched("compile_alone", ""))


@pytest.mark.sandbox
def test_host_memory_is_watched_where_it_is_not_limited(zygote: ZygoteClient) -> None:
    source = "def f():\n    kept = []\n    while True:\n        kept.append(bytearray(b'x') * (32 << 20))\n"
    with zygote.worker(64, replace(REHEARSED, runtime_mib=0)) as worker:
        assert _called(worker, source)[0] == "memory"
