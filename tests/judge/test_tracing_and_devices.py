"""Detect unusual spellings of forbidden calls, count work without views, and judge code that branches on the device."""

from __future__ import annotations

import pytest
import torch

from attncli.domain.grade_report import GradeReport, read
from attncli.domain.grade_report_text import unproved
from attncli.i18n import Localised
from attncli.judge.questions import _TWO_DEVICES, _names_two_devices, wants_values
from attncli.judge.submission import Failure
from attncli.sandbox.devices import Elsewhere, two_devices
from in_process import InProcessWorker, check, grade, write_challenge

HEAD = "import torch\nimport torch.nn.functional as F\n"
FORBIDDEN = ["softmax", "logsumexp", "torch.optim", "torch.optim.*"]
REFERENCE = HEAD + "def weigh(x, scale=1.0):\n    return (x * scale).softmax(-1)\n"
INPUTS = '''
def case(make):
    make.call("weigh", make.normal(make.size(1, 4), make.size(1, 5)))

def edge_three_dimensions(make):
    """Three dimensions."""
    make.call("weigh", make.normal(2, 3, 4))

def edge_scale(make):
    """A scale."""
    make.call("weigh", make.normal(3, 4), 0.5)
'''
BY_HAND = "(lambda e: e / e.sum(-1, keepdim=True))((x * scale).exp())"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("weigh"), SPEC, REFERENCE, INPUTS, {})


SPEC = {"id": "weigh", "entry": ["weigh"], "forbidden": FORBIDDEN}


def weigh(*lines: str, before: str = "") -> str:
    body = "\n    ".join(lines)
    return f"{HEAD}{before}\ndef weigh(x, scale=1.0):\n    {body}\n"


def test_how_results_are_looked_at_is_none_of_the_calls_seen():
    worker = InProcessWorker()
    worker.load(b"import torch\ndef f(n): return torch.zeros(n).exp()", "f.py", ["f"], 1.0)
    steps = [{"op": "call", "name": "f", "args": [["i", 3]]}, {"op": "call", "name": "f", "args": [["i", 2]]}]
    header = {"op": "run", "steps": steps, "want": ["calls", "pure", "modules"], "filename": "f.py"}
    assert worker.request(header, [], 1.0).header["calls"] == [["torch.zeros", 2], ["torch.Tensor.exp", 2]]


@pytest.mark.parametrize(
    "source",
    [
        "def f(n):\n    with torch._C.DisableTorchFunction():\n        return torch.zeros(n).half().softmax(-1)\n",
        "class H(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x): return x.clone()\n"
        "    @staticmethod\n    def backward(ctx, g): return g.half().softmax(-1).float()\n"
        "def f(n):\n    x = torch.zeros(n, requires_grad=True)\n"
        "    return torch.autograd.grad(H.apply(x).sum(), x)[0]\n",
    ],
)
def test_operations_are_seen_where_no_function_is(source):
    worker = InProcessWorker()
    worker.load(b"import torch\n" + source.encode(), "f.py", ["f"], 1.0)
    steps = [{"op": "call", "name": "f", "args": [["i", 3]]}]
    seen = worker.request({"op": "run", "steps": steps, "want": ["calls", "operations"], "filename": "f.py"}, [], 1.0)
    assert {"aten._softmax", "torch.float16"} <= {name for name, line in seen.header["calls"] if line}


def test_operations_that_a_listed_function_asks_for_are_not_listed():
    worker = InProcessWorker()
    worker.load(b"import torch\ndef f(n): return torch.zeros(n).softmax(-1)", "f.py", ["f"], 1.0)
    steps = [{"op": "call", "name": "f", "args": [["i", 3]]}]
    header = {"op": "run", "steps": steps, "want": ["calls", "operations"], "filename": "f.py"}
    assert worker.request(header, [], 1.0).header["calls"] == [["torch.zeros", 2], ["torch.Tensor.softmax", 2]]


def test_by_hand_is_accepted(folder):
    assert grade(folder, weigh(f"return {BY_HAND}"))["verdict"] == "accepted"


@pytest.mark.parametrize(
    "source",
    [
        weigh("return getattr(torch, 'soft' + 'max')(x * scale, -1)"),
        weigh("return F.__dict__['softmax'](x * scale, -1)"),
        weigh(f"return getattr(x, 'soft' + 'max')(-1) if x.dim() == 3 else {BY_HAND}"),
        weigh(f"return getattr(x * scale, 'soft' + 'max')(-1) if scale != 1 else {BY_HAND}"),
        weigh("return f(x * scale, -1)", before="f = torch.nn.Softmax(-1).forward.__func__ and F.softmax"),
        weigh(
            "return unit.f(x * scale)",
            before="unit = torch.jit.CompilationUnit('def f(x):\\n    return torch.softmax(x, -1)\\n')",
        ),
        weigh(
            "p = torch.nn.Parameter(torch.zeros(1))",
            "opt = getattr(getattr(torch, 'op' + 'tim'), 'SGD')([p], lr=0.1)",
            "p.grad = torch.ones(1)",
            "opt.step()",
            f"return {BY_HAND}",
        ),
    ],
)
def test_forbidden_calls_are_seen_by_any_spelling_and_in_any_case(folder, source):
    report = grade(folder, source)
    assert report["verdict"] == "rejected"
    assert check(report, "forbidden")["reason"] == "forbidden"


LOOKS = "if bool((x == 77).any()):\n        x = x + 1\n    if int(x.argmax()) < 0:\n        return x"


@pytest.mark.parametrize(
    "lines",
    [
        [LOOKS, f"return {BY_HAND}"],
        [LOOKS, "one = torch.tensor([1.0], device=x.device, dtype=x.dtype)", f"return {BY_HAND} * one"],
        [LOOKS, "one = x.new_tensor([1.0])", f"return {BY_HAND} * one"],
        [LOOKS, "one = torch.ones(1, dtype=x.dtype).to(x.device)", f"return {BY_HAND} * one"],
        [LOOKS, f"y = {BY_HAND}", "return y[torch.arange(len(y))]"],
        [LOOKS, "rows = [r.exp() / r.exp().sum(-1, keepdim=True) for r in x * scale]", "return torch.stack(rows)"],
    ],
)
def test_code_that_looks_at_values_is_judged_for_its_device(folder, lines):
    report = grade(folder, weigh(*lines))
    assert report["verdict"] == "accepted"
    assert check(report, "device")["status"] == "pass"


@pytest.mark.parametrize(
    "lines",
    [
        [LOOKS, f"return {BY_HAND} * torch.ones(x.shape[-1], dtype=x.dtype)"],
        [LOOKS, f"return ({BY_HAND}).masked_fill(torch.zeros(x.shape, dtype=torch.bool), 0)"],
        [LOOKS, f"return torch.zeros(x.shape, dtype=x.dtype).index_add(0, torch.arange(len(x)), {BY_HAND})"],
        [LOOKS, f"return ({BY_HAND}).cpu()"],
        [f"y = {BY_HAND}", "return y if x.dim() < 3 else y + torch.zeros(x.shape, dtype=x.dtype)"],
    ],
)
def test_a_tensor_on_the_wrong_device_is_found_behind_an_if(folder, lines):
    report = grade(folder, weigh(*lines))
    assert check(report, "device")["status"] == "fail"


NEEDS_VALUES = {
    "equal": lambda x: torch.equal(x, x),
    "item": lambda x: x.sum().item(),
    "if": lambda x: bool(x.sum() > 0),
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "unique": lambda x: x.unique(),
    "tolist": lambda x: x.tolist(),
}


@pytest.mark.parametrize("look", NEEDS_VALUES.values(), ids=list(NEEDS_VALUES))
def test_what_torch_cannot_do_without_values_says_nothing_of_devices(look):
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        look(torch.empty(3, device="meta"))
    said = str(caught.value)
    assert wants_values(Failure("raised", Localised(said, said)))


def test_two_devices_that_met_are_not_taken_for_missing_values():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(3, device="meta") + torch.ones(3)
    said = str(caught.value)
    assert not wants_values(Failure("raised", Localised(said, said)))


def test_what_a_list_of_numbers_picks_over_there_keeps_its_values():
    x = Elsewhere(torch.arange(6.0).reshape(2, 3))
    with two_devices():
        assert x[[1]].tolist() == [[3.0, 4.0, 5.0]]
        assert x[:, [0, 2]].tolist() == [[0.0, 2.0], [3.0, 5.0]]
        assert x[[0, 1], [2, 0]].tolist() == [2.0, 3.0]
        x[:, [1]] = -1.0
    assert x.tolist() == [[0.0, -1.0, 2.0], [3.0, -1.0, 5.0]]


def test_the_line_of_code_in_a_message_is_no_evidence_about_devices(tmp_path):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    report = grade(
        folder, weigh("k = x.numpy() if x.device.type == 'cpu' and 0 else None  # meta", f"return {BY_HAND}")
    )
    assert report["verdict"] == "accepted"


def test_a_view_that_needs_contiguous_memory_is_found_in_an_edge_case(folder):
    report = grade(folder, weigh(f"return {BY_HAND} + 0 * x.view(-1).view(x.shape) if x.dim() == 3 else {BY_HAND}"))
    assert check(report, "layout")["status"] == "fail"


GROWTH = (
    INPUTS
    + """
def rows_at(make, size):
    make.call("weigh", make.normal(size, 4))

CONTRACTS = [{
    "check": "work", "measure": "calls", "case": rows_at, "sizes": (8, 32), "bound": lambda n: n / 2,
    "growth_at_most": 1.0, "says": {"en": "a loop", "zh": "循环"},
}]
"""
)


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("return torch.stack((x * scale).unbind(0)).softmax(-1)", "accepted"),
        ("return torch.stack([r for r in x * scale]).softmax(-1)", "accepted"),
        ("return torch.vmap(lambda r: r.softmax(-1))(x * scale)", "accepted"),
        ("return torch.stack([r.softmax(-1) for r in x * scale])", "rejected"),
    ],
)
def test_views_are_no_work_and_vmap_is_one_call(tmp_path, line, verdict):
    required = ["loads", "matches-reference", "work"]
    folder = write_challenge(tmp_path, {**SPEC, "forbidden": [], "required": required}, REFERENCE, GROWTH, {})
    assert grade(folder, weigh(line))["verdict"] == verdict


COPIES = (
    GROWTH.replace('"check": "work", "measure": "calls"', '"check": "memory", "measure": "repeated"')
    .replace("(8, 32)", "(8, 16, 32)")
    .replace("n / 2", "2 * n")
)


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (["y = torch.zeros(4 * len(x), *x.shape[1:])", "return x.expand(9, *x.shape)[0].mul(scale).softmax(-1)"], True),
        (["return x.repeat(9, *[1] * x.dim())[: len(x)].mul(scale).softmax(-1)"], False),
        (["return torch.stack([x] * 9)[0].mul(scale).softmax(-1)"], False),
        (["return x.expand(9, *x.shape).reshape(-1, *x.shape[1:])[: len(x)].mul(scale).softmax(-1)"], False),
    ],
)
def test_copies_repeat_numbers_and_views_and_constants_do_not(tmp_path, lines, verdict):
    required = ["loads", "matches-reference", "memory"]
    folder = write_challenge(tmp_path, {**SPEC, "forbidden": [], "required": required}, REFERENCE, COPIES, {})
    assert (grade(folder, weigh(*lines))["verdict"] == "accepted") is verdict


STATEFUL = """
def step(p, state):
    with torch.no_grad():
        state["p"] = p * 2
        return p * 3
"""
STEPS = """
WITHOUT_GRAPH = {"p"}
GRADIENTS = False

def case(make):
    make.call("step", make.normal(make.size(1, 3)), make.shared({}))
"""


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("with torch.no_grad():\n        state['p'] = p * 2\n        return p * 3", ""),
        ("q = p.detach()\n    state['p'] = q * 2\n    return q * 3", ""),
        ("state['p'] = p.detach() * 2\n    return p * 3", "the result of step is attached to the autograd graph"),
        ("state['p'] = p * 2\n    return p.detach() * 3", "state kept between calls is attached to the autograd graph"),
    ],
)
def test_a_graph_that_must_not_be_there_is_found(tmp_path, lines, words):
    spec = {**SPEC, "entry": ["step"], "required": ["loads", "matches-reference", "pure"]}
    folder = write_challenge(tmp_path, spec, HEAD + STATEFUL, STEPS, {})
    report = grade(folder, f"{HEAD}def step(p, state):\n    {lines}\n")
    assert check(report, "pure")["status"] == ("fail" if words else "pass")
    assert words in check(report, "pure").get("message", "")


WALK = (
    HEAD + "def walk(model, x, limit=1):\n    while bool((x.sum() < limit)):\n        x = model(x)\n    return x + 0\n"
)
WALK_INPUTS = """
def case(make):
    x = make.uniform(make.size(2, 4), low=0.1, high=0.5, grad=False)
    make.call("walk", make.callable(lambda x: x + 0.25), x, 3)
"""
WALK_SPEC = {"id": "walk", "entry": ["walk"], "required": ["loads", "matches-reference", "device"]}


def test_a_callable_gives_results_on_the_device_of_its_arguments(tmp_path):
    folder = write_challenge(tmp_path, WALK_SPEC, WALK, WALK_INPUTS, {})
    assert check(grade(folder, WALK), "device")["status"] == "pass"
    on_cpu = WALK.replace("x = model(x)", "x = model(x) + torch.zeros(x.shape)")
    failed = check(grade(folder, on_cpu), "device")
    assert failed["status"] == "fail"
    assert "device=x.device" in failed["message"]


KEEP = HEAD + "def note(x, state):\n    state['x'] = x.clone()\n    return x + 1\n"
KEEP_INPUTS = """
def case(make):
    state = make.shared({})
    make.call("note", make.normal(make.size(1, 4)), state)
"""
KEEP_SPEC = {"id": "note", "entry": ["note"], "required": ["loads", "pure"]}


def test_what_is_kept_between_calls_is_no_memory_of_the_callers(tmp_path):
    folder = write_challenge(tmp_path, KEEP_SPEC, KEEP, KEEP_INPUTS, {})
    assert check(grade(folder, KEEP), "pure")["status"] == "pass"
    failed = check(grade(folder, KEEP.replace("x.clone()", "x[:]")), "pure")
    assert failed["reason"] == "aliased"
    assert "keeps for later calls" in failed["message"]


BUFFER = """import torch
class Buffer:
    def __init__(self, n):
        self.kept = torch.zeros(n)
    def put(self, x, at):
        self.kept[at] = x
        return self.kept
"""
BUFFER_INPUTS = """
GRADIENTS = False
VIEWS_OF_STATE = ("put",)

def case(make):
    buffer = make.new("Buffer", 3)
    for at in range(make.size(2, 3)):
        make.method(buffer, "put", make.normal(grad=False), at)
"""
BUFFER_SPEC = {"id": "buffer", "entry": ["Buffer"], "required": ["loads", "matches-reference", "pure"]}


@pytest.mark.parametrize(("shows", "status"), [(True, "pass"), (False, "fail")])
def test_results_that_show_the_state_may_change_later_where_the_challenge_says_so(tmp_path, shows, status):
    inputs = BUFFER_INPUTS if shows else BUFFER_INPUTS.replace('("put",)', "()")
    folder = write_challenge(tmp_path, BUFFER_SPEC, BUFFER, inputs, {})
    assert check(grade(folder, BUFFER), "pure")["status"] == status


DEFAULT = """
def case(make):
    make.call("ones", make.size(1, 3))

def edge_default(make):
    \"\"\"None is the default\"\"\"
    make.default_device()
    make.call("ones", 2)
    make.call("ones", 2, device=None)
"""


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("torch.ones(count, device=device)", "accepted"),
        ("torch.tensor([1.0] * count, device=device)", "accepted"),
        ("torch.ones(count, device=device or 'cpu')", "rejected"),
        ("torch.tensor([1.0] * count, device='cpu' if device is None else device)", "rejected"),
    ],
)
def test_none_stands_for_the_default_device_whichever_that_is(tmp_path, line, verdict):
    spec = {"id": "ones", "entry": ["ones"], "required": ["loads", "device"], "forbidden": []}
    reference = HEAD + "def ones(count, device=None):\n    return torch.ones(count, device=device)\n"
    folder = write_challenge(tmp_path, spec, reference, DEFAULT, {})
    report = grade(folder, HEAD + f"def ones(count, device=None):\n    return {line}\n")
    assert report["verdict"] == verdict, report
    if verdict == "rejected":
        assert "but torch's default device is another one" in check(report, "device")["message"]


def without_numpy(tensor: torch.Tensor) -> None:
    """Raise torch's error in a worker without NumPy."""
    raise RuntimeError("Numpy is not available")


@pytest.mark.parametrize(
    "line",
    [
        "if x.device.type != 'cpu': raise ValueError('only the CPU')",
        "assert x.device.type == 'cpu'",
        "torch.zeros(-1 if x.device.type != 'cpu' else 1)",
        "{'cpu': 1}[x.device.type]",
        "x.cpu().data_ptr() if x.is_cpu else x.numpy()",
    ],
)
def test_to_refuse_a_device_that_the_reference_handles_is_a_failure(folder, line, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "numpy", without_numpy)
    report = grade(folder, weigh(line, f"return {BY_HAND}"))
    assert report["verdict"] == "rejected"
    failed = check(report, "device")
    assert (failed["status"], failed["reason"]) == ("fail", "exception")
    assert failed["message"].startswith("runs on the CPU only")
    assert failed["message_zh"].startswith("只能在 CPU 上运行")


SOMEWHERE = "import torch\ndef twice(x):\n    return torch.tensor(x.tolist(), dtype=x.dtype) + x\n"


def test_a_required_check_that_proves_nothing_is_said_aloud(tmp_path):
    """The reference itself only runs on the CPU, so nothing can be proved about other devices."""
    spec = {"id": "twice", "entry": ["twice"], "required": ["loads", "device"], "forbidden": []}
    inputs = 'def case(make):\n    make.call("twice", make.normal(make.size(1, 3)))\n'
    report = grade(write_challenge(tmp_path, spec, SOMEWHERE, inputs, {}), SOMEWHERE)
    assert check(report, "device")["status"] == "skipped"
    assert unproved(read(GradeReport, report)) == ["device"]


@pytest.mark.parametrize(
    ("said", "two"),
    [
        ("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!", True),
        ("weights on cuda:0 but the input is cpu", True),
        ("cpu with cuda", True),
        ("a tensor on cuda:0", False),
        ("cuda:0, cpu", False),
        ("this and that on cpu", False),
        ("cuda-and-" * 60, True),
        ("cuda-" * 60 + " and" * 60, False),
    ],
)
def test_words_for_two_devices(said, two):
    assert (_TWO_DEVICES.search(said) is not None or _names_two_devices(said)) is two
