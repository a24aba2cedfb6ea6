"""Examining one case: run it on the submission and on the reference, and say what is wrong, if anything."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.compare import Mismatch, Rules, compare, leaves
from attncli.judge.expected import (
    ROUNDING_FACTOR,
    Expectation,
    Observed,
    as_given,
    exact,
    narrowed,
    perturbed,
    run_reference,
)
from attncli.judge.finding import Finding
from attncli.judge.folder import Folder
from attncli.judge.submission import Failure, Submission
from attncli.sandbox.elsewhere import MET

GRADIENT_PERTURBATIONS = 3
# Edge cases say which calls were made, unless a loop over so many elements would take seconds under a trace.
TRACED_ELEMENTS = 10_000
# Their inputs may have 16 bits; what of that is forbidden shows in drawn cases.
WIDTHS = ("torch.float16", "torch.bfloat16")


class Examiner:
    """The questions that can be asked of a submission about one case. Each returns the fault found, or None."""

    def __init__(self, folder: Folder, submission: Submission) -> None:
        self._folder = folder
        self._reference: Mapping[str, Any] = folder.reference.__dict__
        self._submission = submission
        self._absolute = dict(getattr(folder.inputs, "TOLERANCE", {}))
        self._absolute_stable = dict(getattr(folder.inputs, "TOLERANCE_STABLE", self._absolute))
        self._float32_inside = bool(getattr(folder.inputs, "FLOAT32_INSIDE", False))
        self._alias_allowed = frozenset(getattr(folder.inputs, "ALIAS_ALLOWED", ()))
        self._without_graph = frozenset(getattr(folder.inputs, "WITHOUT_GRAPH", ()))
        self.device_unproved = False
        self.seen: list[tuple[str, int]] = []

    def values(self, case: Case) -> Finding | None:
        got = self._submission.run(case)
        expectation = Expectation(self._reference, case)
        if isinstance(got, Failure):
            return Finding.of_failure(case, got, expectation.truth)
        return self._compare(case, expectation, got)

    def edge(self, case: Case) -> Finding | None:
        """Values, and in the same run whether anything was changed or shared: special cases take special branches."""
        traced = case.profile.name == "ordinary" and case.weight[0] <= TRACED_ELEMENTS
        got = self._submission.run(case, ["pure", "calls"] if traced else ["pure"])
        expectation = Expectation(self._reference, case)
        if isinstance(got, Failure):
            return Finding.of_failure(case, got, expectation.truth)
        self.seen += [(called, line) for called, line, _ in got.seen if not called.startswith(WIDTHS)]
        finding = self._compare(case, expectation, got)
        complaint = None if finding is not None else self._impurity(case, got)
        return finding if complaint is None else Finding(case, complaint[0], complaint[1], None, got)

    def _compare(self, case: Case, expectation: Expectation, got: Observed) -> Finding | None:
        truth, native, mine = (o.parts(case) for o in (expectation.truth, expectation.native, got))
        absolute = self._absolute_stable if case.profile.name in ("large", "offset") else self._absolute
        for key, value in truth.items():
            rules = Rules(
                lambda path, key=key: expectation.slack((key, *path)),  # type: ignore[misc]
                absolute,
                float32_inside=self._float32_inside,
                exact=key in case.exact,
                dtypes=lambda path, key=key: case.dtypes.get((key, *path), ()),  # type: ignore[misc]
            )
            if key not in mine:
                mismatch: Mismatch | None = Mismatch("shape", "a result is missing", (key,), value, None)
            else:
                mismatch = compare(value, native[key], mine[key], rules)
            if mismatch is not None:
                return Finding.of_mismatch(case, _placed(case, key, mismatch), expectation.truth, got)
        return self._property(case, expectation.truth, got)

    def _property(self, case: Case, truth: Observed, got: Observed) -> Finding | None:
        """Properties speak of the values of their case; what is said of calls holds for simpler values too."""
        questions = [(partial(holds, got.outcomes), True) for holds in case.properties]
        questions += [(partial(holds, got.calls[k], got.outcomes), False) for k, holds in case.watched.items()]
        for question, of_property in questions:
            try:
                complaint = question()
            except (TypeError, LookupError, AttributeError, ValueError, RuntimeError) as error:
                complaint = f"the result has not the form that was asked for ({type(error).__name__}: {error})"
            if complaint:
                return Finding(case, "values", complaint, truth, got, of_property=of_property)
        return None

    def gradients(self, case: Case) -> Finding | None:
        """Gradients of every input that asks for one, by random cotangents, against float64."""
        chosen = _asking(case)
        if not chosen:
            return None
        native = run_reference(self._reference, case, as_given)
        if case.gradient_properties:
            return self._random_gradients(case, chosen, native)
        made: list[tuple[int, list[Any], Tensor]] = []

        def wide(outcomes: list[Any]) -> list[tuple[int, list[Any], Tensor]]:
            made.extend(_cotangents(case, outcomes, native))
            return [(step, path, vector.to(torch.float64)) for step, path, vector in made]

        truth = run_reference(self._reference, case, exact, leaf_indices=chosen, cotangents=wide)
        if not made:
            return None
        got = self._submission.run(case, ["gradients"], leaves=chosen, cotangents=made)
        if isinstance(got, Failure):
            return Finding.of_failure(case, got, truth)
        vectors = [(step, path, vector.to(torch.float64)) for step, path, vector in made]
        return self._compare_gradients(case, truth, got, chosen, vectors)

    def _random_gradients(self, case: Case, chosen: Sequence[int], native: Observed) -> Finding | None:
        """The properties of gradients through results that cannot be compared, with cotangents of 1."""
        ones = [
            (step, list(path), torch.ones_like(value))
            for step in sorted(case.ignored)
            for path, value in leaves(native.outcomes[step])
            if isinstance(value, Tensor) and value.is_floating_point()
        ]
        got = self._submission.run(case, ["gradients"], leaves=chosen, cotangents=ones)
        if isinstance(got, Failure):
            return Finding.of_failure(case, got, native)
        for holds in case.gradient_properties:
            complaint = holds(got.outcomes, got.gradients)
            if complaint:
                return Finding(case, "gradient", complaint, native, got)
        return None

    def observed_gradients(self, case: Case) -> Observed | Failure:
        """The submission's outcomes with its gradients, asked with the same cotangents as `gradients`."""
        chosen, cotangents = self.gradient_question(case)
        return self._submission.run(case, ["gradients"], leaves=chosen, cotangents=cotangents)

    def gradient_question(self, case: Case) -> tuple[list[int], list[tuple[int, list[Any], Tensor]]]:
        """The inputs that ask for a gradient, and a random cotangent for every floating outcome."""
        truth = run_reference(self._reference, case, exact)
        native = run_reference(self._reference, case, as_given)
        return _asking(case), _cotangents(case, truth.outcomes, native)

    def _compare_gradients(
        self, case: Case, truth: Observed, got: Observed, chosen: Sequence[int], cotangents: Any
    ) -> Finding | None:
        slacks: list[list[Tensor]] = []

        def slack(position: int) -> Tensor:
            if not slacks:
                slacks.append(self._gradient_slack(case, truth, chosen, cotangents))
            return slacks[0][position]

        names = self.names(case)
        for position, k in enumerate(chosen):
            want, mine = truth.gradients[position], got.gradients[position]
            native = want.to(case.inputs[k].value.dtype)
            floor = _natural_size(case, truth, cotangents, k)
            rules = Rules(lambda path, position=position: slack(position), {}, True, floor)  # type: ignore[misc]
            mismatch = compare(want, native, mine, rules)
            if mismatch is not None:
                reason = "gradient" if mismatch.reason == "values" else mismatch.reason
                message = f"gradient of {names.get(k, f'input {k}')}: {mismatch.message}"
                finding = Finding(case, reason, message, truth, got, mismatch)
                return finding
        return None

    def _gradient_slack(self, case: Case, truth: Observed, chosen: Sequence[int], cotangents: Any) -> list[Tensor]:
        moved = [torch.zeros((), dtype=torch.float64) for _ in chosen]
        casts = [(perturbed(case.profile.dtype, turn), 32.0) for turn in range(GRADIENT_PERTURBATIONS)]
        casts.append((as_given, 4.0))
        if case.profile.dtype is torch.float64:
            casts.append((narrowed, ROUNDING_FACTOR))
        for cast, factor in casts:
            vectors = cotangents if cast is not as_given else _native_vectors(self._reference, case, cotangents)
            other = run_reference(self._reference, case, cast, leaf_indices=chosen, cotangents=vectors)
            for position, (a, b) in enumerate(zip(truth.gradients, other.gradients, strict=True)):
                distance = torch.nan_to_num((a.to(torch.float64) - b.to(torch.float64)).abs(), nan=0.0, posinf=0.0)
                if distance.numel():
                    moved[position] = torch.maximum(moved[position], distance.max() * factor)
        return moved

    def device(self, case: Case) -> Finding | None:
        """Runs on the meta device: a tensor made on another device than the inputs' is an error there.

        Code that looks at values cannot run there; it runs on tensors that say `meta` and hold values all the same.
        """
        for device in ("meta", "elsewhere"):
            finding, proved = self._on_device(case, device)
            if proved:
                return finding
        self.device_unproved = True
        return None

    def edge_device(self, case: Case) -> Finding | None:
        """The same of an edge case, where most pass: the reference is asked only when something looks wrong."""
        got = self._submission.run(case, ["elsewhere"])
        if isinstance(got, Failure):
            suspect = MET in got.message
        else:
            suspect = any(isinstance(v, Tensor) and v.device.type == "cpu" for _, v in leaves(got.parts(case)))
        return self._on_device(case, "elsewhere")[0] if suspect else None

    def _on_device(self, case: Case, device: str) -> tuple[Finding | None, bool]:
        """The fault found, and whether the run shows anything at all."""
        try:
            truth = run_reference(self._reference, case, as_given, device=device)
        except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError):
            return None, False
        got = self._submission.run(case, ["elsewhere"] if device == "elsewhere" else [])
        if isinstance(got, Failure):
            said = got.message.rpartition(" (line ")[0] or got.message  # without the learner's line of code
            met = MET in said if device == "elsewhere" else all(w in said for w in ("device", "meta", "cpu"))
            if not got.fatal and not met:
                return None, False
            return Finding.of_failure(case, got, truth), True
        mine = dict(leaves(got.parts(case)))
        for path, value in leaves(truth.parts(case)):
            other = mine.get(path)
            if isinstance(value, Tensor) and isinstance(other, Tensor) and value.device != other.device:
                message = "returned a tensor on the CPU for inputs on another device: make tensors with device=x.device"
                return Finding(case, "values", message, truth, got), True
        return None, True

    def pure(self, case: Case) -> Finding | None:
        """Inputs unchanged, nothing shared, and the same answer again."""
        first = self._submission.run(case, ["pure"])
        if isinstance(first, Failure):
            return Finding.of_failure(case, first)
        complaint = self._impurity(case, first)
        if complaint is not None:
            return Finding(case, complaint[0], complaint[1], None, first)
        second = self._submission.run(case, ["pure"])
        if isinstance(second, Failure):
            return Finding.of_failure(case, second)
        complaint = self._impurity(case, second)
        if complaint is not None:
            return Finding(case, complaint[0], complaint[1], None, second)
        finding = self.same(case, first, second, "nondeterministic", "gave another answer for the same input")
        return finding or self._graph(case)

    def _graph(self, case: Case) -> Finding | None:
        """Where a challenge promises to work without autograd: whether anything hangs on the graph of these inputs."""
        names = self.names(case)
        chosen = [k for k in _asking(case) if names.get(k) in self._without_graph]
        if not chosen:
            return None
        got = self._submission.run(case, ["pure", "gradients"], leaves=chosen)
        if isinstance(got, Failure):
            return Finding.of_failure(case, got)
        for step in got.pure.get("graph") or ():
            what = "what is kept between calls" if step < 0 else f"the result of {_call_name(case, step)}"
            return Finding(case, "values", f"{what} hangs on the graph of autograd: use torch.no_grad()", None, got)
        return None

    def same(self, case: Case, first: Observed, second: Observed, reason: str, message: str) -> Finding | None:
        """Whether two observations of one case agree within the tolerance of the case."""
        expectation = Expectation(self._reference, case)
        before, after = first.parts(case), second.parts(case)
        for key, value in before.items():
            slack = lambda path, key=key: expectation.slack((key, *path))  # noqa: E731
            mismatch = compare(value, value, after[key], Rules(slack, {}, exact=key in case.exact))
            if mismatch is not None:
                return Finding(case, reason, f"{message} ({mismatch.message})", first, second, mismatch)
        return None

    def _impurity(self, case: Case, observed: Observed) -> tuple[str, str] | None:
        names = self.names(case)
        shared = {tree[1] for tree in _tensor_trees(case.shared)}
        for k in observed.pure.get("mutated") or ():
            if k not in shared:
                return "mutated", f"changed its argument {names.get(k, f'input {k}')} in place"
        for step in observed.pure.get("containers") or ():
            return "mutated", f"changed a dict or list that was passed to {_call_name(case, step)}"
        for step, kind in observed.pure.get("aliased") or ():
            name = _call_name(case, step)
            if kind == "input" and name not in self._alias_allowed:
                return "aliased", f"the result of {name} shares memory with an argument"
            if kind == "earlier":
                return "aliased", f"the result of {name} shares memory with what an earlier call returned"
        for step in observed.pure.get("changed") or ():
            return "aliased", f"what {_call_name(case, step)} returned was changed by a later call"
        return None

    def names(self, case: Case) -> dict[int, str]:
        """The argument name of each tensor of a case, from the reference's signatures."""
        found: dict[int, str] = {}
        for step in case.steps:
            for name, tree in named_arguments(self._reference, step):
                for tensor_tree, suffix in _paths(tree):
                    found.setdefault(tensor_tree[1], name + suffix)
        return found


def _natural_size(case: Case, truth: Observed, cotangents: Any, leaf: int) -> float:
    """How large a gradient is before terms cancel: the cotangent times another input, or times outcome over input."""
    outcomes = [t for step, path, _ in cotangents for t in [_part(truth.outcomes[step], path)]]
    value = case.inputs[leaf].value
    largest = max((_largest(t) for t in outcomes), default=0.0)
    vector = max((_largest(v) for _, _, v in cotangents), default=0.0)
    others = max((_largest(i.value) for k, i in enumerate(case.inputs) if k != leaf and i.follow), default=0.0)
    return vector * max(1.0, others, largest / max(_largest(value), 1e-3))


def _largest(tensor: Tensor) -> float:
    finite = torch.nan_to_num(tensor.detach().to(torch.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return float(finite.abs().max()) if finite.numel() else 0.0


def _part(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value


def named_arguments(reference: Mapping[str, Any], step: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The arguments of a step with the names they have in the reference's signature."""
    target = reference.get(step.get("name", ""))
    if step["op"] == "method":
        target = next((getattr(c, step["name"]) for c in reference.values() if hasattr(c, step["name"])), None)
    try:
        parameters = [name for name in inspect.signature(target).parameters if name != "self"] if target else []
    except (TypeError, ValueError):
        parameters = []
    args = step.get("args", ())
    names = [*parameters, *(f"argument {k}" for k in range(len(parameters), len(args)))]
    return [*zip(names, args, strict=False), *step.get("kwargs", {}).items()]


def _paths(tree: Any, suffix: str = "") -> list[tuple[Any, str]]:
    if tree[0] == "t":
        return [(tree, suffix)]
    if tree[0] in ("l", "u"):
        return [pair for k, item in enumerate(tree[1]) for pair in _paths(item, f"{suffix}[{k}]")]
    if tree[0] == "d":
        return [pair for key, item in tree[1] for pair in _paths(item, f"{suffix}[{key[1]!r}]")]
    return []


def _tensor_trees(trees: Sequence[Any]) -> list[Any]:
    return [tree for root in trees for tree, _ in _paths(root)]


def _call_name(case: Case, step: int) -> str:
    return str(case.steps[step].get("name", "a call"))


def _placed(case: Case, key: Any, mismatch: Mismatch) -> Mismatch:
    if isinstance(key, str):
        place = f" ({'the object changed in place' if key.startswith('shared') else 'calls of the callable'})"
    elif len(case.steps) > 1:
        place = f" ({_call_name(case, key)}, call {key + 1} of {len(case.steps)})"
    else:
        place = ""
    return Mismatch(
        mismatch.reason,
        mismatch.message + place,
        (key, *mismatch.path),
        mismatch.expected,
        mismatch.got,
        mismatch.index,
    )


def _asking(case: Case) -> list[int]:
    return [k for k, item in enumerate(case.inputs) if item.grad and item.follow]


def _cotangents(case: Case, outcomes: Sequence[Any], native: Observed) -> list[tuple[int, list[Any], Tensor]]:
    generator = torch.Generator().manual_seed(case.seed + 1)
    vectors = []
    for step, outcome in enumerate(outcomes):
        if step in case.ignored:
            continue
        due = dict(leaves(native.outcomes[step]))
        for path, value in leaves(outcome):
            if isinstance(value, Tensor) and value.is_floating_point() and path in due:
                vector = torch.randn(value.shape, generator=generator, dtype=torch.float64)
                for dtype in case.dtypes.get((step, *path), ()):
                    vector = vector.to(dtype)  # exact in every dtype that the part may have
                vectors.append((step, list(path), vector.to(due[path].dtype)))
    return vectors


def _native_vectors(reference: Mapping[str, Any], case: Case, cotangents: Any) -> Any:
    return [(step, path, vector.to(case.profile.dtype)) for step, path, vector in cotangents]
