"""Run a worker without a sandbox, for tests of the judge's own logic: the same code, in this process."""

import json
import traceback
from collections import deque
from pathlib import Path
from typing import Any, Self

from attncli.judge.challenge import Folder
from attncli.judge.client import GradeOptions
from attncli.judge.counterexample import bounded
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.submission import Budget, Submission
from attncli.sandbox import interpreter, source_reading
from attncli.sandbox.compiler import postpone_compiler
from attncli.sandbox.worker import reason_of, run_case
from attncli.sandbox.zygote_client import Reply

postpone_compiler()


class InProcessWorker:
    printed = ""

    def __init__(self) -> None:
        self._waiting: deque[tuple[dict, list, Any]] = deque()

    def load(
        self, source: bytes, filename: str, entry: list[str], seconds: float, kernel: bool = False, device: str = "cpu"
    ) -> Reply:
        self._namespace: dict[str, Any] = {"__name__": "submission"}
        self._filename = filename
        try:
            exec(compile(source, filename, "exec"), self._namespace)
        except Exception as error:  # noqa: BLE001 - whatever a submission raises is a reply
            return self._raised(error)
        return Reply({"op": "loaded", "names": {n: "function" for n in entry if n in self._namespace}}, memoryview(b""))

    def request(
        self, header: dict, buffers: list, seconds: float, on_invoke: Any = None, reply_limit: int = 0
    ) -> Reply:
        if header["op"] == "read":
            found = source_reading.read_source(
                buffers[0], source_reading.Rules(**json.loads(json.dumps(header["rules"])))
            )
            return Reply(json.loads(json.dumps({"op": "read", **found})), memoryview(b""))

        if header["op"] == "case":
            reply, chunks = run_case(**json.loads(json.dumps({key: header[key] for key in ("text", "entries")})))
            return Reply(json.loads(json.dumps(reply)), memoryview(b"".join(chunks)))

        def invoke(asked: dict, payload: Any) -> tuple[dict, memoryview]:
            answer, chunks = on_invoke(json.loads(json.dumps(asked)), memoryview(b"".join(payload)))
            return answer, memoryview(b"".join(chunks))

        payload = memoryview(b"".join(buffers))
        try:
            reply, chunks = interpreter.serve(self._namespace, json.loads(json.dumps(header)), payload, invoke)
        except Exception as error:  # noqa: BLE001 - whatever a submission raises is a reply
            return self._raised(error)
        return Reply(json.loads(json.dumps(reply)), memoryview(b"".join(chunks)))

    def send(self, header: dict, buffers: list, on_invoke: Any = None, reply_limit: int = 0) -> None:
        self._waiting.append((header, buffers, on_invoke))

    def receive(self, seconds: float) -> Reply:
        header, buffers, on_invoke = self._waiting.popleft()
        return self.request(header, buffers, seconds, on_invoke)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def end(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def _raised(self, error: Exception) -> Reply:
        frames = [
            {"line": f.lineno, "function": f.name, "code": f.line or ""}
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename == self._filename
        ]
        said = {"op": "raised", "type": type(error).__name__, "text": str(error), "frames": frames}
        return Reply({**said, "reason": reason_of(error, str(error))}, memoryview(b""))


def grade(
    folder: Folder, source: str, device: str = "cpu", replay: Any = (), first: Any = ("", None), **asked: Any
) -> dict[str, Any]:
    """Return the report document of one grading in this process, with the tensors on a device."""
    submission = Submission(source.encode(), "submission.py", folder.entry, InProcessWorker, Budget(60), device=device)
    options = GradeOptions(**{"rung": "hardened", **asked})
    exams: dict[Any, Exam] = folder.__dict__.setdefault("exams", {})  # kept, as the server keeps them
    exam = exams.setdefault((options.seed, device), Exam(folder, options.seed, device))
    report = Grading(exam, submission, options, replay, first).run()
    return {**bounded(report), "stored": list(report.stored)}


def check(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in report["checks"] if item["name"] == name)


SPEC: dict[str, Any] = {
    "id": "scaled-sum",
    "version": 1,
    "entry": ["scaled_sum"],
    "required": [
        "loads",
        "matches-reference",
        "gradients",
        "edge-cases",
        "low-precision",
        "layout",
        "device",
        "pure",
        "forbidden",
    ],
    "badges": [],
    "forbidden": ["cumsum"],
    "cards": ["att-01"],
}

REFERENCE = """
def scaled_sum(x, weight, scale=2.0):
    return (x * weight).sum(-1) * scale
"""

INPUTS = '''
def case(make):
    T, D = make.size(1, 6), make.size(1, 7)
    x, weight = make.normal(2, T, D), make.normal(D)
    if make.flag():
        make.call("scaled_sum", x, weight, scale=make.pick([0.5, 0.0]))
    else:
        make.call("scaled_sum", x, weight)

def edge_single(make):
    """One entry."""
    make.call("scaled_sum", make.normal(1, 1), make.normal(1))
'''

WRONG = {
    "no-scale": '''"""Forgets the scale.
忘了缩放。

cards: att-02
rung: solved
"""
def scaled_sum(x, weight, scale=2.0):
    return (x * weight).sum(-1)
'''
}


def write_challenge(
    root: Path, spec: dict[str, Any] | None = None, reference: str = REFERENCE, inputs: str = INPUTS, wrong: Any = None
) -> Folder:
    """Write a small challenge for tests."""
    (root / "wrong").mkdir(parents=True, exist_ok=True)
    (root / "reference.py").write_text(reference, encoding="utf-8")
    said = "" if "SIXTEEN_BITS" in inputs else 'SIXTEEN_BITS = "native"\n'
    (root / "inputs.py").write_text(said + inputs, encoding="utf-8")
    for name, source in (WRONG if wrong is None else wrong).items():
        (root / "wrong" / f"{name}.py").write_text(source, encoding="utf-8")
    return Folder({**SPEC, **(spec or {})}, root)
