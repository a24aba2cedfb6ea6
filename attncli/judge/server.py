"""The judge's process: requests as JSON lines on stdin, events and reports as JSON lines on stdout.

It is one half of a process that imported torch; the other half is the zygote, which forks the workers (see
sandbox/zygote.py). Modules of the judge are imported inside functions, so that the zygote can probe its sandbox layers
while they load.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import socket
import sys
import threading
from base64 import b64decode
from collections import OrderedDict
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, NoReturn

from attncli.domain.challenge import CPU, Repair, runs_on_gpu
from attncli.domain.grade_report import INTERPRETER, CheckResult, GradeReport, document
from attncli.errors import AttnError, JudgeFailed
from attncli.i18n import _
from attncli.judge.client import GradeOptions
from attncli.judge.messages import say
from attncli.sandbox.policy import CPU as CPU_POLICY
from attncli.sandbox.policy import MEMORY_MIB, WorkerPolicy, policy_of
from attncli.sandbox.zygote_client import ForkedProcess, Worker, ZygoteClient

if TYPE_CHECKING:
    from attncli.judge.challenge import Folder
    from attncli.judge.exam import Exam
    from attncli.judge.submission import Submission

# After this time without a request, a worker is forked for the next grading.
IDLE_SECONDS = 0.05
# Each exam holds some 200 cases with the reference's results: 1 to 10 MiB, 40 for mla.
EXAMS_KEPT = 2

Request = dict[str, Any]


def main(control: socket.socket, zygote: int) -> NoReturn:
    """Serve requests until stdin ends, then exit. `control` is the socket to the zygote, its child."""
    log = os.fdopen(os.dup(2), "rb", buffering=0)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server = Server(out, ZygoteClient(ForkedProcess(zygote), control, log))
    requests: queue.Queue[Request] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin, requests, server), daemon=True).start()
    threading.Thread(target=server.prepare, daemon=True).start()  # the zygote probes its layers while this imports
    try:
        import attncli.judge.grade  # noqa: F401 - so that the first request does not pay for it

        gc.enable()
        gc.freeze()
        server.serve(requests)
    finally:
        server.close()


def _read(stdin: IO[str], requests: queue.Queue[Request], server: Server) -> None:
    for line in stdin:
        requests.put(json.loads(line))
    # The client has ended, so the running request is no longer needed.
    server.close()
    os._exit(0)


class Server:
    """Serves requests one after the other with one zygote, which is replaced when it has died."""

    def __init__(self, out: IO[str], zygote: ZygoteClient) -> None:
        self._out = out
        self._zygote = zygote
        self._testing_zygote: ZygoteClient | None = None  # for learners' tests, started when the first ones come
        self._memory_mib = MEMORY_MIB
        self._folders: dict[str, Folder] = {}
        self._exams: OrderedDict[tuple[int, int, str], Exam] = OrderedDict()
        # The policy of the last worker, and therefore of the one that is forked ahead.
        self._policy = CPU_POLICY
        # The reasons why a GPU cannot be used, by the name of the policy.
        self._unusable: dict[str, str] = {}

    def serve(self, requests: queue.Queue[Request]) -> NoReturn:
        while True:
            try:
                request = requests.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                self.prepare()
                request = requests.get()
            self._answer(request)

    def prepare(self) -> None:
        """Have the next worker forked; the first request reports what fails."""
        self._zygote.prepare(self._memory_mib, self._policy)

    def close(self) -> None:
        self._zygote.close()
        if self._testing_zygote is not None:
            self._testing_zygote.close()

    def _answer(self, request: Request) -> None:
        try:
            self._send({"id": request["id"], **self._answer_to(request)})
        except AttnError as error:
            self._send({"id": request.get("id"), "error": {"en": error.message.en, "zh": error.message.zh}})

    def _answer_to(self, request: Request) -> dict[str, Any]:
        operation = request["op"]
        if operation == "hello":
            self._zygote.ready()
            return {"layers": list(self._zygote.layers), "notes": list(self._zygote.notes)}
        perform = {"grade": self._grade, "try": self._try, "verify": self._verify, "tests": self._tests}.get(operation)
        if perform is None:
            message = _("unknown judge request {operation!r}; update attncli", operation=operation)
            raise JudgeFailed(message)
        return perform(request, self._folder(request), GradeOptions(**request["options"]))

    def _send(self, line: dict[str, Any]) -> None:
        self._out.write(json.dumps(line, allow_nan=False) + "\n")
        self._out.flush()

    def _grade(self, request: Request, folder: Folder, options: GradeOptions, again: bool = False) -> dict[str, Any]:
        from attncli.judge.counterexample import bounded
        from attncli.judge.grade import interpreted_too

        device, why = self._device(folder, options, request["may_fall_back"])
        zygote = self._zygote
        report = self._graded(request, folder, options, device)
        report = interpreted_too(report, folder.kernel, device, lambda: self._graded(request, folder, options, CPU))
        if why:
            report = replace(report, device_note=say("gpu-unusable", why=why))
        outlived = self._zygote is zygote and zygote.alive()
        if report.accepted or again or outlived:
            return {"report": {**bounded(report), "stored": list(report.stored)}}
        # A worker that died with its zygote says nothing about the file, even if the next one came from a new zygote.
        return self._grade(request, folder, options, again=True)

    def _graded(self, request: Request, folder: Folder, options: GradeOptions, device: str) -> GradeReport:
        """Return the report of one grading on a device, with the sandbox layers that were in force.

        For a file with planted bugs it also has the number of repaired bugs.
        """
        from attncli.judge.grade import Grading

        def notify(check: CheckResult) -> None:
            self._send({"id": request["id"], "event": "check", **document(check)})

        source, filename = b64decode(request["source"]), request["filename"]
        replay = [stored for stored in request["replay"] if isinstance(stored, dict)]
        submission = self._submission(folder, options, source, filename, device)
        grading = Grading(self._exam(folder, options.seed, device), submission, options, replay, notify=notify)
        with closing(submission):
            layers = self._zygote.layers_under(policy_of(device, folder.kernel))
            report = grading.run()
            if request["bugs"]:
                from attncli.judge.repairs import with_repairs

                report = with_repairs(grading, report, request["bugs"], _repairs(request))
        return replace(report, sandbox=layers, device=INTERPRETER if folder.kernel and device == CPU else device)

    def _try(self, request: Request, folder: Folder, options: GradeOptions) -> dict[str, Any]:
        """Run a case that the learner typed on their file and on the reference."""
        from attncli.judge.counterexample import cleaned
        from attncli.judge.try_case import both_answers

        source, filename = b64decode(request["source"]), request["filename"]
        with closing(self._submission(folder, options, source, filename)) as submission:
            return {"answers": cleaned(document(both_answers(folder, submission, str(request["text"]))))}

    def _tests(self, request: Request, folder: Folder, options: GradeOptions) -> dict[str, Any]:
        """Run the learner's tests on the solutions of the challenge."""
        from attncli.judge.counterexample import cleaned
        from attncli.judge.own_tests import TestRun

        def notify(caught: bool) -> None:
            with sending:
                self._send({"id": request["id"], "event": "tested", "caught": caught})

        source, seconds, sending = b64decode(request["source"]), options.timeout_seconds, threading.Lock()
        testing = partial(self._testing_worker, options.memory_mib)
        run = TestRun(folder, source, request["filename"], testing, seconds, request["rejected_by"], notify)
        report = replace(run.run(), sandbox=self._testing().layers)
        return {"report": cleaned(document(report))}

    def _testing(self) -> ZygoteClient:
        if self._testing_zygote is None or not self._testing_zygote.alive():
            self._testing_zygote = ZygoteClient.start(testing=True)
        return self._testing_zygote

    def _testing_worker(self, memory_mib: int) -> Worker:
        worker = self._testing().worker(memory_mib)
        self._testing().prepare(memory_mib)
        return worker

    def _verify(self, request: Request, folder: Folder, options: GradeOptions) -> dict[str, Any]:
        from attncli.judge.repairs import planted_surprises
        from attncli.judge.verify import Verification

        device, _ = self._device(folder, options)
        known = {name: (check, rung) for name, (check, rung) in request["known"].items()}
        with TemporaryDirectory(prefix="attn-compiled-") as cache_folder:

            def submit(file: Path, text: str | None = None, on: str = device) -> Submission:
                source = file.read_bytes() if text is None else text.encode()
                return self._submission(folder, options, source, str(file), on, cache_folder)

            def notify(done: int) -> None:
                self._send({"id": request["id"], "event": "proved", "gradings": done})

            proof = Verification(folder, submit, notify, known, device, request["only"]).run(int(request["streams"]))
            proof["surprises"] += planted_surprises(folder, submit, _repairs(request), device)
        return {"proof": {**proof, "device": device}}

    def _device(self, folder: Folder, options: GradeOptions, may_fall_back: bool = False) -> tuple[str, str]:
        """Return the device for a submission, and the reason if a preferred GPU is not used.

        The GPU is used if the options name it and the challenge can be graded on it. Raises JudgeFailed if CUDA fails
        in a worker and the request may not fall back to the CPU.
        """
        device = options.device
        if device == CPU or not runs_on_gpu(folder.kernel, folder.spec["required"]):
            return CPU, ""
        policy = policy_of(device, folder.kernel)
        if not may_fall_back:
            self._zygote.layers_under(policy)
            return device, ""
        why = self._why_unusable(policy)
        return (CPU if why else device), why

    def _why_unusable(self, policy: WorkerPolicy) -> str:
        """Return why no worker can have this policy, "" if one can. A failure is cached if the zygote survives it."""
        if policy.name in self._unusable:
            return self._unusable[policy.name]
        try:
            self._zygote.layers_under(policy)
        except JudgeFailed as error:
            if self._zygote.alive():
                self._unusable[policy.name] = str(error)
            return str(error)
        return ""

    def _submission(
        self,
        folder: Folder,
        options: GradeOptions,
        source: bytes,
        filename: str,
        device: str = CPU,
        cache_folder: str = "",
    ) -> Submission:
        """Return a submission; all its workers have the policy for its device, and the limits of the options.

        On a GPU a kernel is compiled at its first call: the limits leave time for that. The guard gets half of the
        worker's memory, so that both together stay below twice the limit.
        """
        from attncli.judge.guard import LEAST_MEMORY_MIB, Guard
        from attncli.judge.submission import COMPILING, Budget, Submission

        self._memory_mib = options.memory_mib
        policy = policy_of(device, folder.kernel, cache_folder)
        patience = COMPILING if policy.starts_processes else 1
        return Submission(
            source=source,
            filename=filename,
            entry=folder.entry,
            open_worker=partial(self._worker, policy),
            budget=Budget(options.timeout_seconds * patience),
            kernel=folder.kernel,
            device=device,
            guard=Guard(max(LEAST_MEMORY_MIB, options.memory_mib // 2)),
        )

    def _worker(self, policy: WorkerPolicy) -> Worker:
        """Return a fresh worker and have the next one forked; a zygote that has died is replaced once."""
        self._policy = policy
        try:
            worker = self._zygote.worker(self._memory_mib, policy)
        except JudgeFailed:
            self._zygote.close()
            self._zygote = ZygoteClient.start()
            worker = self._zygote.worker(self._memory_mib, policy)
        self.prepare()
        return worker

    def _folder(self, request: Request) -> Folder:
        from attncli.judge.challenge import Folder

        key = json.dumps([request["folder"], request["spec"]], sort_keys=True)
        if key not in self._folders:
            folder = self._folders[key] = Folder(request["spec"], Path(request["folder"]))
            folder.prepare()
        return self._folders[key]

    def _exam(self, folder: Folder, stream: int, device: str) -> Exam:
        """Return the exam of a challenge on a stream; the last few are kept, mainly for `--watch`."""
        from attncli.judge.exam import Exam

        key = (id(folder), stream, device)
        exam = self._exams.pop(key, None) or Exam(folder, stream, device)
        self._exams[key] = exam
        while len(self._exams) > EXAMS_KEPT:
            self._exams.popitem(last=False)
        return exam


def _repairs(request: Request) -> list[Repair]:
    return [Repair(**entry) for entry in request["repairs"]]
