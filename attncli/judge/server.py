"""The judge's process: requests as JSON lines on stdin, events and reports as JSON lines on stdout.

It is one half of a process that imported torch; the other half is the zygote (see sandbox/split.py).
"""

from __future__ import annotations

import base64
import contextlib
import gc
import json
import os
import queue
import socket
import sys
import tempfile
import threading
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import IO, Any

from attncli.domain.challenge import CPU, runs_on_gpu
from attncli.errors import AttnError, JudgeFailed
from attncli.sandbox.policy import CPU as CPU_POLICY
from attncli.sandbox.policy import MEMORY_MIB, WorkerPolicy, policy_of
from attncli.sandbox.zygote_client import ForkedProcess, Worker, ZygoteClient

# How long nobody asks for anything before a worker is forked for the next grading.
IDLE_SECONDS = 0.05
# Each holds some 200 cases with what the reference says to them: 1 to 10 MiB, 40 for mla.
EXAMS_KEPT = 2

Request = dict[str, Any]


class Server:
    """Serves gradings one after the other over one zygote, which is started anew when it has died."""

    def __init__(self, out: IO[str], zygote: ZygoteClient) -> None:
        self._out = out
        self._zygote = zygote
        self._memory_mib = MEMORY_MIB
        self._folders: dict[str, Any] = {}
        self._exams: OrderedDict[tuple[int, int, str], Any] = OrderedDict()
        # Of the worker that is forked while nobody asks for anything: as the last one.
        self._policy = CPU_POLICY
        # Why a GPU cannot be used, by the name of the policy.
        self._unusable: dict[str, str] = {}

    def serve(self, requests: queue.Queue[Request | None]) -> None:
        while (request := self._next(requests)) is not None:
            self._answer(request)

    def _next(self, requests: queue.Queue[Request | None]) -> Request | None:
        try:
            return requests.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            self._zygote.prepare(self._memory_mib, self._policy)
            return requests.get()

    def get_ready(self) -> None:
        """Has the zygote prove its layers while the judge still imports; what fails is said to the first request."""
        self._zygote.prepare(self._memory_mib)

    def close(self) -> None:
        self._zygote.close()

    def _answer(self, request: Request) -> None:
        try:
            operation = request["op"]
            if operation == "grade":
                self._grade(request)
            elif operation == "try":
                self._send({"id": request["id"], "answers": self._try(request)})
            elif operation == "prove":
                self._send({"id": request["id"], "proof": self._prove(request)})
            elif operation == "hello":
                self._zygote.ready()
                self._send(
                    {"id": request["id"], "layers": list(self._zygote.layers), "notes": list(self._zygote.notes)}
                )
            else:
                raise JudgeFailed(f"the judge does not know the request {operation!r}; update attncli")
        except AttnError as error:
            self._send({"id": request.get("id"), "error": error.message})

    def _grade(self, request: Request, again: bool = False) -> None:
        from attncli.judge.counterexample import document
        from attncli.judge.grade import interpreted_too, without_gpu

        folder, (device, why), zygote = self._folder(request), self._device(request), self._zygote
        report = self._graded(request, device)
        report = interpreted_too(report, folder.kernel, device, lambda: self._graded(request, CPU))
        report = without_gpu(report, why) if why else report
        outlived = self._zygote is zygote and zygote.alive()
        if report.accepted or again or outlived:
            self._send({"id": request["id"], "report": {**document(report), "stored": list(report.stored)}})
            return
        # A worker that died with its zygote says nothing about the file, even if the next one had a zygote of its own.
        self._grade(request, again=True)

    def _graded(self, request: Request, device: str) -> Any:
        """The report of one grading on a device, with the layers that it ran behind."""
        from dataclasses import replace

        from attncli.domain.grade_report import INTERPRETER
        from attncli.judge.grade import Grading

        exam = self._exam(request, device)
        kernel, number = exam.folder.kernel, request["id"]
        submission = self._submission(request, exam.folder, device)
        grading = Grading(exam, submission, _options(request), lambda event: self._send({"id": number, **event}))
        with contextlib.closing(submission):
            layers = self._zygote.layers_under(policy_of(device, kernel))
            place = INTERPRETER if kernel and device == CPU else device
            return replace(self._with_repairs(grading, request), sandbox=layers, device=place)

    def _device(self, request: Request) -> tuple[str, str]:
        """Where a submission runs: on the GPU that was asked for, if that shows anything of the challenge; and why not,
        where it cannot be used although nobody has said that it must.

        Raises JudgeFailed where CUDA cannot begin in a worker, unless nobody has asked for it.
        """
        folder, device = self._folder(request), str(request.get("device", CPU))
        if device == CPU or not runs_on_gpu(folder.kernel, folder.spec["required"]):
            return CPU, ""
        policy = policy_of(device, folder.kernel)
        if not request.get("may_fall_back", False):
            self._zygote.layers_under(policy)
            return device, ""
        why = self._why_unusable(policy)
        return (CPU if why else device), why

    def _why_unusable(self, policy: WorkerPolicy) -> str:
        """Why no worker of this policy can be had, empty where one can; tried once, if the zygote outlives it."""
        if policy.name in self._unusable:
            return self._unusable[policy.name]
        try:
            self._zygote.layers_under(policy)
        except JudgeFailed as error:
            if self._zygote.alive():
                self._unusable[policy.name] = error.message
            return error.message
        return ""

    def _with_repairs(self, grading: Any, request: Request) -> Any:
        """The report; of a file with planted bugs also how many of them are repaired."""
        from attncli.domain.challenge import Repair
        from attncli.judge.repairs import with_repairs

        repairs = [Repair(**entry) for entry in request.get("repairs", ())]
        return with_repairs(grading, grading.run(), request.get("bugs", ()), repairs)

    def _submission(self, request: Request, folder: Any, device: str = CPU) -> Any:
        """The file of a request, in a worker as large as is asked for."""
        source, filename = base64.b64decode(request["source"]), str(request["filename"])
        return self._opened(request, folder, source, filename, device)

    def _opened(
        self, request: Request, folder: Any, source: bytes, filename: str, device: str, cache_folder: str = ""
    ) -> Any:
        """Return a submission, all of whose workers are of the policy for its device.

        On a GPU a kernel is compiled at its first call: the limits leave time for that.
        """
        from attncli.judge.submission import COMPILING, Budget, Submission

        self._memory_mib = int(request["memory_mib"])
        policy = policy_of(device, folder.kernel, cache_folder)
        patience = COMPILING if policy.starts_processes else 1
        return Submission(
            source=source,
            filename=filename,
            entry=folder.entry,
            open_worker=partial(self._worker, policy),
            budget=Budget(float(request["timeout_seconds"]) * patience),
            kernel=folder.kernel,
            device=device,
            guard=self._guard(),
        )

    def _try(self, request: Request) -> dict[str, Any]:
        """A case that the learner typed, put to their file and to the reference."""
        from attncli.domain.grade_report import answers_document
        from attncli.judge.counterexample import cleaned
        from attncli.judge.try_case import both_answers

        folder = self._folder(request)
        with contextlib.closing(self._submission(request, folder)) as submission:
            answers: dict[str, Any] = cleaned(answers_document(both_answers(folder, submission, str(request["text"]))))
        return answers

    def _prove(self, request: Request) -> dict[str, Any]:
        from attncli.domain.challenge import Repair
        from attncli.judge.repairs import planted_surprises
        from attncli.judge.submission import Submission
        from attncli.judge.verify import Proving

        folder, (device, _) = self._folder(request), self._device(request)
        number = request["id"]
        known = {name: (check, rung) for name, (check, rung) in request["known"].items()}
        repairs = [Repair(**entry) for entry in request.get("repairs", ())]
        with tempfile.TemporaryDirectory(prefix="attn-compiled-") as cache_folder:

            def submit(file: Path, text: str | None = None, on: str = device) -> Submission:
                source = file.read_bytes() if text is None else text.encode()
                opened: Submission = self._opened(request, folder, source, str(file), on, cache_folder)
                return opened

            def notify(done: int) -> None:
                self._send({"id": number, "event": "proved", "gradings": done})

            proof = Proving(folder, submit, notify, known, device).run(int(request["streams"]))
            proof["surprises"] += planted_surprises(folder, submit, repairs, device)
        return {**proof, "device": device}

    def _folder(self, request: Request) -> Any:
        from attncli.judge.challenge import Folder

        key = json.dumps([request["folder"], request["spec"]], sort_keys=True)
        if key not in self._folders:
            folder = self._folders[key] = Folder(request["spec"], Path(request["folder"]))
            folder.prepare()
        return self._folders[key]

    def _exam(self, request: Request, device: str) -> Any:
        """The exam of the challenge on the stream that is asked for; the last few are kept, most of all for a watch."""
        from attncli.judge.exam import Exam

        folder, stream = self._folder(request), int(request.get("seed", 0))
        key = (id(folder), stream, device)
        exam = self._exams.pop(key, None) or Exam(folder, stream, device)
        self._exams[key] = exam
        while len(self._exams) > EXAMS_KEPT:
            self._exams.popitem(last=False)
        return exam

    def _guard(self) -> Any:
        """Half of the worker's limit for what the judge looks at, so that both together stay below twice of it."""
        from attncli.judge.guard import LEAST_MEMORY_MIB, Guard

        return Guard(max(LEAST_MEMORY_MIB, self._memory_mib // 2))

    def _worker(self, policy: WorkerPolicy) -> Worker:
        """A fresh worker of a policy, and the next one asked for; a zygote that has died is replaced once."""
        self._policy = policy
        try:
            worker = self._zygote.worker(self._memory_mib, policy)
        except JudgeFailed:
            self._zygote.close()
            self._zygote = ZygoteClient.start()
            worker = self._zygote.worker(self._memory_mib, policy)
        self._zygote.prepare(self._memory_mib, policy)
        return worker

    def _send(self, line: dict[str, Any]) -> None:
        self._out.write(json.dumps(line, allow_nan=False) + "\n")
        self._out.flush()


def _options(request: Request) -> Any:
    from attncli.judge.checks import Options

    return Options(
        stream=int(request.get("seed", 0)),
        rung=request.get("rung", "hardened"),
        examples=int(request.get("examples", 0)),
        quick=bool(request.get("quick", False)),
        replay=tuple(kept for kept in request.get("replay", ()) if isinstance(kept, dict)),
    )


def _read(stdin: IO[str], requests: queue.Queue[Request | None], zygote_of: Server) -> None:
    for line in stdin:
        requests.put(json.loads(line))
    # The other side is gone: whatever runs now is for nobody.
    zygote_of.close()
    os._exit(0)


def main(control: socket.socket, zygote: int) -> int:
    """Runs until stdin ends. `control` is our end of the socket of the zygote, which is a child of this process."""
    log = os.fdopen(os.dup(2), "rb", buffering=0)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    server = Server(out, ZygoteClient(ForkedProcess(zygote), control, log))
    requests: queue.Queue[Request | None] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin, requests, server), daemon=True).start()
    threading.Thread(target=server.get_ready, daemon=True).start()
    try:
        import attncli.judge.grade  # noqa: F401 - so that the first request does not pay for it

        gc.enable()
        gc.freeze()
        server.serve(requests)
    finally:
        server.close()
    return 0
