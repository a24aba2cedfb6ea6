"""Start, use and stop the zygote: the guarantees for the judge."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from attncli.errors import JudgeFailed, SandboxUnavailable
from attncli.sandbox import launch, namespaces
from attncli.sandbox.policy import REHEARSED
from attncli.sandbox.zygote import Available, ForkServer
from attncli.sandbox.zygote_client import Ending, Reply, Worker, ZygoteClient

from .conftest import MEMORY_MIB, SECONDS, Grade, descendants, gone, verdict, zygote_pid

pytestmark = pytest.mark.sandbox

ALL_LAYERS = ("process", "rlimits", "landlock", "seccomp", "namespaces")


def test_the_host_loads_no_torch() -> None:
    check = "import attncli.sandbox.zygote_client, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_workers_do_not_see_each_other(zygote: ZygoteClient) -> None:
    with zygote.worker(MEMORY_MIB) as first, zygote.worker(MEMORY_MIB) as second:
        first.load(b"import builtins\nbuiltins.left = 1", "s.py", [], SECONDS)
        said = verdict(second.load(b"import os\nassert os.getpid() == 2\nleft", "s.py", [], SECONDS))[1]
    assert said.startswith("NameError")


@pytest.mark.slow
@pytest.mark.parametrize("capability", ["avx2", pytest.param("default", marks=pytest.mark.full)])
def test_sixteen_bits_convert_on_an_older_processor_too(capability: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch reads the processor's features from /proc at the first conversion; a worker may not read that."""
    monkeypatch.setitem(launch._FIXED_VARIABLES, "ATEN_CPU_CAPABILITY", capability)
    source = b"import torch\nassert torch.ones(3, dtype=torch.float16).float().sum() == 3\ndef f(): pass"
    with ZygoteClient.start() as older, older.worker(MEMORY_MIB) as worker:
        assert verdict(worker.load(source, "s.py", ["f"], SECONDS)) == ("loaded", "")


def test_workers_may_be_used_from_several_threads(zygote: ZygoteClient) -> None:
    found = []

    def grade(number: int) -> None:
        with zygote.worker(MEMORY_MIB) as worker:
            found.append(verdict(worker.load(f"assert {number} >= 0".encode(), "s.py", [], SECONDS))[0])

    threads = [threading.Thread(target=grade, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["loaded"] * 6
    assert gone(zygote_pid(zygote))


def test_many_workers_leak_neither_descriptors_nor_processes(zygote: ZygoteClient) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    zygote.worker(MEMORY_MIB).kill()
    before = descriptors()
    for source in (b"x = 1", b"import os; os._exit(1)", b"1 / 0", b"print('x' * 2 ** 21)") * 5:
        with zygote.worker(MEMORY_MIB) as worker:
            worker.load(source, "s.py", [], SECONDS)
    assert descriptors() <= before
    assert gone(zygote_pid(zygote))


def test_an_ended_worker_gives_its_ending_again_and_a_killed_one_says_so(worker: Worker, zygote: ZygoteClient) -> None:
    first = worker.load(b"import os\nos._exit(3)", "s.py", [], SECONDS)
    assert isinstance(first, Ending) and worker.request({"op": "run", "steps": []}, [], SECONDS) is first
    worker.kill()
    other = zygote.worker(MEMORY_MIB)
    other.kill()
    other.kill()
    ending = other.request({"op": "run", "steps": []}, [], SECONDS)
    assert isinstance(ending, Ending) and ending.message.en == "was stopped by the judge"


def test_the_judges_time_does_not_count_and_its_errors_end_the_worker(worker: Worker, zygote: ZygoteClient) -> None:
    def slow(header: dict, payload: memoryview) -> tuple[dict, list]:
        time.sleep(1.1)
        return {"value": ["i", 1], "tensors": []}, []

    def interrupted(header: dict, payload: memoryview) -> tuple[dict, list]:
        raise KeyboardInterrupt

    worker.load(b"def f(g): return [g(), g()]", "s.py", ["f"], SECONDS)
    header = {"op": "run", "steps": [{"op": "call", "name": "f", "args": [["c", 0]]}], "callables": [None]}
    assert isinstance(worker.request(header, [], 2.0, on_invoke=slow), Reply)
    with pytest.raises(KeyboardInterrupt):
        worker.request(header, [], SECONDS, on_invoke=interrupted)
    assert gone(zygote_pid(zygote))


def test_a_request_larger_than_the_pipe_is_sent_and_one_that_is_not_read_times_out(worker: Worker) -> None:
    source = b"x = 1\n" + b"#" * (4 << 20)
    assert verdict(worker.load(source, "s.py", [], SECONDS))[0] == "loaded"
    source = b"import os, threading\nthreading.Thread(target=lambda: [os.read(3, 1) for _ in iter(int, 1)]).start()"
    worker.load(source, "s.py", [], SECONDS)
    assert isinstance(worker.request({"op": "run", "steps": []}, [bytes(8 << 20)], 1.0), Ending)


def test_the_end_of_the_zygote_ends_its_workers(tmp_path: Path) -> None:
    with ZygoteClient.start() as zygote:
        worker = zygote.worker(MEMORY_MIB)
        worker.load(b"x = 1", "s.py", [], SECONDS)
        pids = descendants(zygote_pid(zygote))
        assert len(pids) == 2
        os.kill(zygote_pid(zygote), signal.SIGKILL)
        assert all(_ends(pid) for pid in pids)
        with pytest.raises(JudgeFailed, match="the sandbox stopped"):
            zygote.worker(MEMORY_MIB)
        worker.kill()


def test_the_end_of_the_judge_ends_everything() -> None:
    judge = (
        "import os, sys\nfrom attncli.sandbox.zygote_client import ZygoteClient\n"
        "zygote = ZygoteClient.start()\nworker = zygote.worker(256)\n"
        "worker.load(b'x = 1', 's.py', [], 20)\n"
        "print(zygote._process.pid, flush=True)\nsys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-c", judge], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    pids = [pid, *descendants(pid)]
    assert len(pids) == 3
    process.kill()
    process.communicate()
    assert all(_ends(pid) for pid in pids)


def _ends(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                time.sleep(0.005)
                continue
        return True
    return False


@pytest.mark.slow
def test_a_worker_asked_for_ahead_is_the_next_one_and_ends_with_its_zygote() -> None:
    with ZygoteClient.start() as zygote:
        zygote.prepare(MEMORY_MIB)
        zygote.prepare(MEMORY_MIB)  # one is enough
        children = _workers_of(zygote)
        assert len(children) == 1
        with zygote.worker(MEMORY_MIB) as worker:
            assert worker.load(b"x = 1", "s.py", ["x"], SECONDS).header["op"] == "loaded"
            assert _workers_of(zygote) == children
        zygote.prepare(MEMORY_MIB)
        with zygote.worker(2 * MEMORY_MIB) as worker:  # another size than was asked for ahead
            assert worker.load(b"x = bytearray(500 << 20)", "s.py", ["x"], SECONDS).header["op"] == "loaded"
            assert len(_workers_of(zygote)) == 1
        # A judge that prepared for the CPU and then needed the GPU waited 20 s at the next grading.
        zygote.prepare(MEMORY_MIB)
        zygote.layers_under(REHEARSED)
        with zygote.worker(MEMORY_MIB) as worker:
            assert worker.load(b"x = 1", "s.py", ["x"], SECONDS).header["op"] == "loaded"
        zygote.prepare(MEMORY_MIB)
        (pid,) = _workers_of(zygote)
    assert _ends(pid)
    zygote.close()  # once more, which does nothing


@pytest.mark.full
def test_a_worker_asked_for_before_the_zygote_grew_warm_is_not_used() -> None:
    with ZygoteClient.start() as zygote:
        zygote.prepare(MEMORY_MIB)
        before, last = _seconds_used(zygote), -1.0
        while last < before + 0.1 or last != _seconds_used(zygote):  # it imports for a while, and then rests
            last = _seconds_used(zygote)
            time.sleep(1.0)
        with zygote.worker(MEMORY_MIB) as worker:
            loaded = worker.load(b"import sys\nassert 'sympy' in sys.modules", "s.py", [], SECONDS)
            assert verdict(loaded) == ("loaded", "")


def _workers_of(zygote: ZygoteClient) -> list[int]:
    """Return the first process of every worker, once the one requested ahead exists."""
    deadline = time.monotonic() + 30
    while not (found := namespaces.children_of(zygote_pid(zygote))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _seconds_used(zygote: ZygoteClient) -> float:
    fields = Path(f"/proc/{zygote_pid(zygote)}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_zygote_ends_in_order_although_nobody_read_what_it_said_last() -> None:
    zygote = ZygoteClient.start()
    zygote.ready()
    zygote.prepare()
    assert select.select([zygote._control], [], [], 20)[0]
    zygote._control.close()
    assert zygote._process.wait(20) == 0
    zygote.close()


def test_a_zygote_that_tells_something_to_a_judge_that_has_gone_goes_on_to_its_end() -> None:
    """The zygote gets a reset if the judge had not read everything, and then a broken pipe."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = ForkServer(theirs, Available())
    server._send({"op": "warm"})
    ours.close()
    server._send({"op": "forked"}, [server._lifeline])
    server._send({"op": "failed"})
    for descriptor in (server._lifeline, server._held, theirs.detach()):
        os.close(descriptor)


def test_a_zygote_started_in_a_thread_outlives_it_and_hears_no_interrupt_of_the_terminal() -> None:
    started = []
    thread = threading.Thread(target=lambda: started.append(ZygoteClient.start()))
    thread.start()
    thread.join()
    with started[0] as zygote:
        assert zygote.layers == ALL_LAYERS
        assert os.getpgid(zygote_pid(zygote)) != os.getpgid(0)


def test_what_cannot_start_is_said_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for options, words in (({"site_paths": [tmp_path]}, "No module named 'tor"), ({"python": "/bin/false"}, "it died")):
        with ZygoteClient.start(**options) as zygote, pytest.raises(JudgeFailed, match=words):
            zygote.ready()
    with pytest.raises(JudgeFailed, match="cannot be started"):
        ZygoteClient.start(python=str(tmp_path / "python"))
    with monkeypatch.context() as patched, pytest.raises(JudgeFailed, match="install it with"):
        patched.setattr("importlib.util.find_spec", lambda name: None)
        launch.package_folders()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailable, match="needs Linux"):
        ZygoteClient.start()


def test_a_worker_that_cannot_be_set_up_is_the_judges_failure(zygote: ZygoteClient) -> None:
    with zygote.worker(memory_mib=0) as worker, pytest.raises(JudgeFailed, match="cannot set up the sandbox"):
        worker.load(b"x = 1", "s.py", [], SECONDS)
    assert gone(zygote_pid(zygote))


def test_withheld_folders_cannot_be_read(load: Grade) -> None:
    import torch

    for folder in launch.withheld_folders():
        assert verdict(load(f"import os\nos.listdir({str(folder)!r})"))[0] == "refused", folder
    hidden = Path(torch.__file__).parent / "contrib"
    with ZygoteClient.start(withheld=[hidden]) as zygote, zygote.worker(MEMORY_MIB) as worker:
        shown = f"import os, torch\nos.listdir({str(hidden.parent / 'nn')!r})\n"
        outcome = worker.load(f"{shown}os.listdir({str(hidden)!r})".encode(), "s.py", [], SECONDS)
        said = f"PermissionError: [Errno 13] Permission denied: {str(hidden)!r}"
        assert verdict(outcome) == ("refused", said), "further ones"


@pytest.mark.skipif(os.geteuid() != 0, reason="the kernel shows a worker's memory map to root alone")
def test_a_worker_is_small(worker: Worker) -> None:
    worker.load(b"x = 1", "s.py", [], SECONDS)
    (pid,) = namespaces.children_of(worker._process.pid)
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    own = sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty", "Private_Clean")))
    assert own < 30 * 1024
