"""Worker policies as data: the CPU's is unchanged, and those for a GPU differ in the documented fields.

A machine without a GPU can test their layers' refusals; only the initialisation of CUDA is left out.
"""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from attncli.errors import JudgeFailed
from attncli.sandbox import launch, namespaces, policy, seccomp, worker
from attncli.sandbox.policy import CPU, CUDA, CUDA_KERNELS, REHEARSED, REHEARSED_KERNELS, WorkerPolicy
from attncli.sandbox.seccomp import NUMBERS
from attncli.sandbox.zygote_client import Reply, Worker, ZygoteClient

from .conftest import MEMORY_MIB, SECONDS, descendants, gone, verdict, zygote_pid
from .test_hostile import RAW_CALLS, SYSTEM_CALL
from .test_seccomp import ALLOW, PID, answer_of, refusal

# As they were before there was another policy.
FILTERS = {
    ("aarch64", True): "d3e5a1d27548fb1c",
    ("aarch64", False): "956df7905a946f29",
    ("x86_64", True): "e787cc0b874eb75b",
    ("x86_64", False): "e1489220cd9f3a76",
}
TYPED_INTO_THE_TERMINAL, OF_A_DRIVER = 0x5412, 0xC020462A
SHARED, ANONYMOUS = 0x01, 0x20


@pytest.mark.parametrize(("machine", "may_write"), list(FILTERS))
def test_the_filter_for_the_cpu_is_unchanged_to_the_bit(machine: str, may_write: bool) -> None:
    code = seccomp.compile_filter(machine, PID, may_write)
    assert hashlib.sha256(code).hexdigest()[:16] == FILTERS[machine, may_write]


def test_the_limits_for_the_cpu_are_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _limits(monkeypatch, CPU) == {
        "DATA": 384,
        "AS": 384 + 8192,
        "STACK": 64,
        "CORE": 0,
        "FSIZE": 0,
        "MEMLOCK": 0,
        "NOFILE": 64,
        "CPU": 900,
        "NPROC": 64,
    }


def test_the_limits_for_a_gpu_leave_out_memory_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _limits(monkeypatch, CUDA) == {
        "STACK": 64,
        "CORE": 0,
        "FSIZE": 1024,
        "NOFILE": 1024,
        "CPU": 900,
        "NPROC": 256,
    }


def _limits(monkeypatch: pytest.MonkeyPatch, of: WorkerPolicy) -> dict[str, int]:
    """Return the limits set, by name; those of memory and files in MiB."""
    names = {
        getattr(namespaces.resource, f"RLIMIT_{name}"): name for name in "DATA AS STACK CORE FSIZE MEMLOCK".split()
    }
    names |= {getattr(namespaces.resource, f"RLIMIT_{name}"): name for name in "NOFILE CPU NPROC".split()}
    found: dict[str, int] = {}
    monkeypatch.setattr(namespaces, "private_bytes", lambda: 0)
    monkeypatch.setattr(namespaces, "address_bytes", lambda: 0)
    monkeypatch.setattr(namespaces, "_stack_bytes", lambda: namespaces.STACK_BYTES)
    monkeypatch.setattr(namespaces, "_kernel_version", lambda: (6, 1))
    monkeypatch.setattr(namespaces, "_limit", lambda kind, value: found.update({names[kind]: value}))
    namespaces.apply(384, True, of)
    return {name: value >> 20 if value > 4096 else value for name, value in found.items()}


@pytest.mark.parametrize("machine", sorted(NUMBERS))
def test_for_a_gpu_the_calls_that_are_listed_are_allowed_and_no_others(machine: str) -> None:
    special = {"fcntl", "clone", "clone3", "kill", "tgkill", "prctl", "ioctl", "prlimit64", "mmap", "open", "openat"}
    special |= {"socket", "connect", "unlink", "unlinkat"}
    for of in (CUDA, CUDA_KERNELS):
        for name, number in NUMBERS[machine].items():
            if name not in special:
                listed = name in seccomp.ALLOWED or name in of.calls
                assert answer_of(of, machine, number) == (ALLOW if listed else refusal()), (of.name, name)


def test_no_policy_allows_what_leads_out() -> None:
    never = {
        "socket",
        "connect",
        "ptrace",
        "bpf",
        "mount",
        "unshare",
        "setns",
        "pidfd_open",
        "io_uring_setup",
        "keyctl",
    }
    for of in (CPU, CUDA, CUDA_KERNELS):
        assert never.isdisjoint({*seccomp.ALLOWED, *of.calls})
    assert {"execve", "fork", "vfork"}.isdisjoint(CUDA.calls)


def test_a_driver_may_be_spoken_to_and_a_terminal_not_typed_into() -> None:
    ioctl = NUMBERS["x86_64"]["ioctl"]
    assert answer_of(CPU, "x86_64", ioctl, 3, OF_A_DRIVER) == refusal()
    assert answer_of(CUDA, "x86_64", ioctl, 3, OF_A_DRIVER) == ALLOW
    assert answer_of(CUDA, "x86_64", ioctl, 0, TYPED_INTO_THE_TERMINAL) == refusal()


def test_shared_memory_and_processes_are_for_whom_the_policy_says() -> None:
    numbers = NUMBERS["x86_64"]
    for of, shared, forks in ((CPU, False, False), (CUDA, True, False), (CUDA_KERNELS, True, True)):
        mapped = answer_of(of, "x86_64", numbers["mmap"], 0, 4096, 3, SHARED | ANONYMOUS)
        assert (mapped == ALLOW) is shared
        assert (answer_of(of, "x86_64", numbers["clone"], 0x11) == ALLOW) is forks
        assert answer_of(of, "x86_64", numbers["clone"], 0x10000000 | 0x11) == refusal(), "no namespaces"


def test_the_policies_differ_in_what_is_written_down() -> None:
    """Any new difference must be added here and to docs/kernels-and-gpu.md."""
    assert _differences(CPU, CUDA) == {
        *("name", "device", "kernel_limits_memory", "runtime_mib", "written_bytes", "open_files", "processes", "calls"),
        *("any_ioctl", "shared_memory", "names_threads", "reads", "devices", "variables", "kept_variables"),
        *("start_seconds", "fcntl", "unix_sockets"),
    }
    more = {"name", "calls", "programs", "reads", "folder_mib", "starts_processes", "variables"}
    assert _differences(CUDA, CUDA_KERNELS) == more
    assert _differences(CUDA, REHEARSED) == _differences(CUDA_KERNELS, REHEARSED_KERNELS) == {"name", "device"}


def _differences(first: WorkerPolicy, second: WorkerPolicy) -> set[str]:
    return {field.name for field in fields(WorkerPolicy) if getattr(first, field.name) != getattr(second, field.name)}


def test_a_gpu_policy_is_for_the_gpu_and_a_compiler_for_kernels() -> None:
    assert policy.policy_of("cpu", kernel=True) is policy.policy_of("elsewhere") is CPU
    assert policy.policy_of("cuda") is CUDA
    assert policy.policy_of("cuda", kernel=True) == CUDA_KERNELS
    assert policy.policy_of("cuda", kernel=True, cache_folder="/x") == replace(CUDA_KERNELS, cache_folder="/x")
    assert CPU.shares_rules and not CUDA.shares_rules
    assert replace(CPU, reads=("/x",)).shares_rules is False


def _mounted(monkeypatch: pytest.MonkeyPatch, of: WorkerPolicy, user_namespace: bool) -> list[str]:
    """Return the mount steps of a worker with this policy, in order, without mounting."""
    done: list[str] = []
    for name in ("enter_own_mounts", "mount_processes", "mount_memory"):
        monkeypatch.setattr(namespaces, name, lambda *_, name=name: done.append(name))
    worker._mount(worker.Confinement(64, None, True, user_namespace, 1, of))
    return done


@pytest.mark.parametrize("of", [CUDA_KERNELS, replace(CUDA_KERNELS, names_threads=False)], ids=["threads", "folder"])
def test_a_folder_is_laid_over_the_machines_own_for_the_worker_alone(
    monkeypatch: pytest.MonkeyPatch, of: WorkerPolicy
) -> None:
    done = _mounted(monkeypatch, of, user_namespace=True)
    assert done[0] == "enter_own_mounts" and done[-1] == "mount_memory"
    assert ("mount_processes" in done) == of.names_threads


@pytest.mark.parametrize("of", [CUDA, CUDA_KERNELS], ids=lambda of: of.name)
def test_without_a_user_namespace_nothing_is_mounted(monkeypatch: pytest.MonkeyPatch, of: WorkerPolicy) -> None:
    """Root would be allowed to mount, and would cover the machine's /dev/shm for everybody."""
    assert _mounted(monkeypatch, of, user_namespace=False) == []


def test_memory_files_may_be_sealed_for_a_gpu_alone() -> None:
    fcntl = NUMBERS["x86_64"]["fcntl"]
    for command in (1033, 1034):
        assert answer_of(CPU, "x86_64", fcntl, 3, command) == refusal()
        assert answer_of(CUDA, "x86_64", fcntl, 3, command) == ALLOW
    assert answer_of(CUDA, "x86_64", fcntl, 3, 8) == refusal(), "who gets its signals"


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
devices.gpu_is_seen = lambda patterns: True
def run(*_, **__):
    sys.exit("a backward pass")
torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = run
zygote.warm_up()
zygote.warm_up_further()
"""


def test_beside_a_gpu_the_zygote_runs_no_backward_pass() -> None:
    """The first pass asks for GPUs and starts a thread for each: no worker could be forked, nor CUDA start in one."""
    source = WARM_UP_BESIDE_A_GPU.format(attncli=str(Path(policy.__file__).parent.parent))
    subprocess.run([sys.executable, "-c", source], check=True, timeout=120)
    alone = source.replace("lambda patterns: True", "lambda patterns: False")
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "a backward pass" in done.stderr, "else the test above shows nothing"


FIND_NO_GPU_BESIDE_ONE = """
import os, sys
sys.path.insert(0, {attncli!r})
import torch
from sandbox import devices, worker
def count():
    os.write(2, b"a warning of torch")
    print(repr(os.environ["CUDA_VISIBLE_DEVICES"]), flush=True)
torch._C._cuda_getDeviceCount = count
devices.backward_starts_gpu = lambda: {seen}
worker._find_no_gpu()
os.write(2, b"the submission's own")
"""


@pytest.mark.parametrize(("seen", "asked"), [(True, "''\n"), (False, "")])
def test_a_worker_on_the_cpu_asks_for_gpus_before_the_submission_without_a_word(seen: bool, asked: str) -> None:
    source = FIND_NO_GPU_BESIDE_ONE.format(attncli=str(Path(policy.__file__).parent.parent), seen=seen)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", source], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == asked
    assert done.stderr.endswith("the submission's own") and "a warning of torch" not in done.stderr


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


READ = "def f():\n    return open('{path}').read()[:3]\n"
REFUSED = {
    "reads a reference": READ.format(path="{reference}"),
    "reads /etc/passwd": READ.format(path="/etc/passwd"),
    "reads another process": READ.format(path="/proc/1/environ"),
    "writes": "def f():\n    open('/tmp/hostile', 'w')\n",
    "connects": "import socket\ndef f():\n    socket.socket()\n",
    "makes a namespace": f"{SYSTEM_CALL}def f():\n    {RAW_CALLS['unshare']}\n",
    "changes a mode": "import os\ndef f():\n    os.chmod('/tmp', 0)\n",
}
LEAVES_A_CHILD = """
import os, time
def f():
    if os.fork() == 0:
        time.sleep(600)
"""


def _called(worker: Worker, source: str) -> tuple[str, str]:
    reference = launch.withheld_folders()[0] / "errors.py"
    loaded = worker.load(source.replace("{reference}", str(reference)).encode(), "submission.py", ["f"], SECONDS)
    assert verdict(loaded) == ("loaded", ""), "nothing is attacked by a file that does not load"
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": []}]}
    return verdict(worker.request(header, [], SECONDS))


@pytest.mark.sandbox
@pytest.mark.parametrize("of", [REHEARSED, REHEARSED_KERNELS], ids=lambda of: of.name)
@pytest.mark.parametrize("source", REFUSED.values(), ids=list(REFUSED))
def test_what_leads_out_is_refused_behind_the_layers_for_a_gpu(
    zygote: ZygoteClient, of: WorkerPolicy, source: str
) -> None:
    with zygote.worker(MEMORY_MIB, of) as worker:
        reason, words = _called(worker, source)
    assert (reason, words.partition(":")[0]) == ("refused", "PermissionError"), words


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


OPEN = """
import os
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
def f():
    assert [number for number in range(3, 64) if is_open(number)] == [3]
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("of", [CPU, REHEARSED, REHEARSED_KERNELS], ids=lambda of: of.name)
def test_the_judges_channel_alone_stays_open(zygote: ZygoteClient, of: WorkerPolicy) -> None:
    """The standard streams stay open too. Rules shared by all workers are closed if a worker has its own."""
    with zygote.worker(MEMORY_MIB, of) as worker:
        assert _called(worker, OPEN) == ("result", "")


@pytest.mark.sandbox
def test_host_memory_is_watched_where_it_is_not_limited(zygote: ZygoteClient) -> None:
    source = "def f():\n    kept = []\n    while True:\n        kept.append(bytearray(b'x') * (32 << 20))\n"
    with zygote.worker(64, replace(REHEARSED, runtime_mib=0)) as worker:
        assert _called(worker, source)[0] == "memory"
