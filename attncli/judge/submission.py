"""The learner's code as the judge meets it: programs go in, observations or findings come out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.expected import Observed, logged
from attncli.sandbox.host import Ending, Reply, Worker
from attncli.sandbox.script import Raised
from attncli.sandbox.values import (
    Environment,
    Packer,
    TreeError,
    bytes_of,
    describe_tensor,
    read_table,
    resolve,
)

# After one of these nothing further is asked of the file: it would only happen again.
ENDS_GRADING = frozenset({"memory", "refused", "exited"})

Buffer = bytes | bytearray | memoryview

REPLY_LIMIT_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program gave no result. `fatal` means that nothing further is asked: the worker is gone, or useless."""

    reason: str
    message: str
    frames: tuple[dict[str, Any], ...] = ()
    fatal: bool = False


@dataclass(slots=True)
class Budget:
    """The seconds that the learner's code may run in one grading, over all calls."""

    seconds: float
    clock: Callable[[], float] = time.monotonic

    def spend(self, since: float) -> None:
        self.seconds -= self.clock() - since


@dataclass
class Submission:
    """A loaded file in a worker; `renew` gives the same file in a fresh one."""

    source: bytes
    filename: str
    entry: Sequence[str]
    open_worker: Callable[[], Worker]
    budget: Budget
    worker: Worker | None = None
    touched: list[str] = field(default_factory=list)
    printed: str = ""

    def __post_init__(self) -> None:
        self.limit_seconds = self.budget.seconds

    def load(self) -> Failure | None:
        """Starts a worker and executes the file in it."""
        self.close()
        self.worker = self.open_worker()
        start = self.budget.clock()
        outcome = self.worker.load(self.source, self.filename, list(self.entry), max(0.05, self.budget.seconds))
        self.budget.spend(start)
        failure = self._failure(outcome, "while it was loaded")
        if failure is not None:
            return failure
        assert isinstance(outcome, Reply)
        names = outcome.header.get("names")
        missing = [name for name in self.entry if not isinstance(names, dict) or name not in names]
        if missing:
            words = " and ".join(missing)
            return Failure("missing-entry-point", f"the file does not define {words}; keep the name that was asked for")
        return None

    def renew(self) -> Failure | None:
        return self.load()

    def close(self) -> None:
        if self.worker is not None:
            self._collect()
            self.worker.kill()
            self.worker = None

    def run(
        self,
        case: Case,
        want: Sequence[str] = (),
        *,
        leaves: Sequence[int] = (),
        cotangents: Sequence[tuple[int, list[Any], Tensor]] = (),
    ) -> Observed | Failure:
        """One program in the worker. Never raises for anything that the learner's code does."""
        assert self.worker is not None
        header, buffers = encode(case, self.filename, want, leaves, cotangents)
        functions, calls = logged(case.callables)
        start = self.budget.clock()
        outcome = self.worker.request(
            header,
            buffers,
            max(0.05, self.budget.seconds),
            on_invoke=lambda asked, payload: answer(functions, asked, payload),
            reply_limit=REPLY_LIMIT_BYTES,
        )
        self.budget.spend(start)
        failure = self._failure(outcome, _place(case))
        if failure is not None:
            return failure
        assert isinstance(outcome, Reply)
        try:
            observed = decode(outcome.header, outcome.payload, len(leaves) if "gradients" in want else 0)
        except (TreeError, LookupError, TypeError, ValueError, AttributeError) as error:
            return Failure("protocol", f"sent something that is not a result ({error})", fatal=True)
        observed.calls = calls
        return observed

    def _failure(self, outcome: Reply | Ending, place: str) -> Failure | None:
        if isinstance(outcome, Ending):
            self._collect()
            if outcome.reason == "timeout":
                message = f"still running after {self.limit_seconds:g} s {place}".strip()
                return Failure("timeout", message, fatal=True)
            return Failure(outcome.reason, outcome.message, fatal=True)
        header = outcome.header
        touched = header.get("touched") or []
        self.touched.extend(str(name)[:60] for name in touched if str(name)[:60] not in self.touched)
        if header.get("op") != "raised":
            return None
        frames = tuple(frame for frame in header.get("frames") or () if isinstance(frame, dict))
        reason = str(header.get("reason", "exception"))
        return Failure(reason, _raised_message(header, frames, place), frames, reason in ENDS_GRADING)

    def _collect(self) -> None:
        if self.worker is not None and self.worker.printed:
            self.printed = self.worker.printed


def _place(case: Case) -> str:
    names = list(dict.fromkeys(step["name"] for step in case.steps if "name" in step))
    return f"in a call of {', '.join(names)}" if names else ""


def _raised_message(header: Mapping[str, Any], frames: Sequence[Mapping[str, Any]], place: str) -> str:
    text = " ".join(str(header.get("text", "")).split())[:300]
    said = f"{header.get('type', 'Exception')}: {text}" if text else str(header.get("type", "Exception"))
    if not frames:
        return f"{said} ({place})" if place else said
    last = frames[-1]
    code = str(last.get("code", "")).strip()[:120]
    return f"{said} (line {last.get('line')}: {code})"


def encode(
    case: Case,
    filename: str,
    want: Sequence[str],
    leaves: Sequence[int],
    cotangents: Sequence[tuple[int, list[Any], Tensor]],
) -> tuple[dict[str, Any], list[bytes]]:
    """The request of a program: a header and the bytes of its tensors."""
    strided = case.profile.layout == "strided"
    tensors = [item.value for item in case.inputs]
    vectors = [vector for _, _, vector in cotangents]
    header = {
        "op": "run",
        "filename": filename,
        "seed": case.seed,
        "device": case.profile.device,
        "dtype": str(case.profile.dtype).removeprefix("torch."),
        "steps": case.steps,
        "shared": case.shared,
        "generators": case.generators,
        "callables": len(case.callables),
        "want": list(want),
        "leaves": list(leaves),
        "cotangents": [[step, path, len(tensors) + k] for k, (step, path, _) in enumerate(cotangents)],
        "tensors": [
            *(describe_tensor(t, keep_strides=strided) for t in tensors),
            *(describe_tensor(t) for t in vectors),
        ],
    }
    buffers = [*(bytes_of(t, keep_strides=strided) for t in tensors), *(bytes_of(t) for t in vectors)]
    return header, buffers


def decode(header: Mapping[str, Any], payload: memoryview, gradients: int) -> Observed:
    """The observation in a reply. Raises TreeError and friends for anything that is not one."""
    if header.get("op") != "result":
        raise TreeError("no result")
    tensors = read_table(header["tensors"], payload)
    outcomes = [_outcome(item, tensors) for item in header["outcomes"]]
    shared = _outcome(header["shared"], tensors)
    observed = Observed(outcomes, list(shared), pure=dict(header.get("pure") or {}))
    observed.seen = [[str(name), int(line), int(size)] for name, line, size in header.get("calls") or ()]
    observed.costs = [{k: int(v) for k, v in figures.items()} for figures in header.get("costs") or ()]
    if gradients:
        first = int(header["gradients"])
        observed.gradients = tensors[first:]
        if len(observed.gradients) != gradients:
            raise TreeError("gradients are missing")
    return observed


def _outcome(item: Mapping[str, Any], tensors: Sequence[Tensor]) -> Any:
    tree, first = item["tree"], int(item["first"])
    if tree[0] == "raised":
        return Raised(tuple(str(name)[:80] for name in tree[1][:20]), str(tree[2])[:500])
    return resolve(tree, Environment(tensors[first:]))


def answer(
    functions: Sequence[Callable[..., Any]], asked: Mapping[str, Any], payload: memoryview
) -> tuple[dict[str, Any], list[Buffer]]:
    """What a callable of the judge returns to a proxy's call; an unusable call becomes an error there."""
    try:
        args, kwargs = resolve(asked["arguments"], Environment(read_table(asked["tensors"], payload)))
        result = functions[asked["callable"]](*args, **kwargs)
    except (TreeError, LookupError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}, []
    packer = Packer()
    tree = packer.pack(result)
    tensors = [t.detach() for t in packer.tensors]
    return {"value": tree, "tensors": [describe_tensor(t) for t in tensors]}, [bytes_of(t) for t in tensors]
