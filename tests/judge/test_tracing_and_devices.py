"""Detect unusual spellings of forbidden calls, count work without views, and judge code that branches on the device."""

from __future__ import annotations

import pytest
import torch

from attncli.i18n import quoted
from attncli.judge.questions import _TWO_DEVICES, _names_two_devices, wants_values
from attncli.judge.submission import Failure
from attncli.sandbox.devices import Elsewhere, two_devices
from in_process import InProcessWorker, check, grade, write_challenge

HEAD = "import torch\nimport torch.nn.functional as F\n"
SPEC = {"id": "weigh", "entry": ["weigh"], "forbidden": ["softmax", "logsumexp", "torch.optim", "torch.optim.*"]}
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
LOOKS = "if bool((x == 77).any()):\n        x = x + 1\n    if int(x.argmax()) < 0:\n        return x"
BY_HAND = "(lambda e: e / e.sum(-1, keepdim=True))((x * scale).exp())"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("weigh"), SPEC, REFERENCE, INPUTS, {})


def weigh(*lines: str, before: str = "") -> str:
    body = "\n    ".join(lines)
    return f"{HEAD}{before}\ndef weigh(x, scale=1.0):\n    {body}\n"


def calls_seen(source: str, *want: str, times: int = 1) -> list:
    worker = InProcessWorker()
    worker.load(b"import torch\n" + source.encode(), "f.py", ["f"], 1.0)
    steps = [{"op": "call", "name": "f", "args": [["i", 3]]}] * times
    header = {"op": "run", "steps": steps, "want": ["calls", *want], "filename": "f.py"}
    return worker.request(header, [], 1.0).header["calls"]


def test_what_a_listed_function_does_and_how_results_are_looked_at_are_none_of_the_calls_seen():
    seen = calls_seen("def f(n): return torch.zeros(n).exp()", "pure", "modules", times=2)
    assert seen == [["torch.zeros", 2], ["torch.Tensor.exp", 2]]
    seen = calls_seen("def f(n): return torch.zeros(n).softmax(-1)", "operations")
    assert seen == [["torch.zeros", 2], ["torch.Tensor.softmax", 2]]


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
    seen = {name for name, line in calls_seen(source, "operations") if line}
    assert {"aten._softmax", "torch.float16"} <= seen


def test_forbidden_calls_are_seen_by_any_spelling_and_in_any_case(folder):
    for source in (
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
    ):
        report = grade(folder, source)
        assert (report["verdict"], check(report, "forbidden")["reason"]) == ("rejected", "forbidden"), source


@pytest.mark.parametrize(
    "lines",
    [
        [LOOKS, f"return {BY_HAND}"],
        [LOOKS, "one = torch.tensor([1.0], device=x.device, dtype=x.dtype)", f"return {BY_HAND} * one"],
        [LOOKS, "one = x.new_tensor([1.0])", f"return {BY_HAND} * one"],
        [LOOKS, "one = torch.ones(1, dtype=x.dtype).to(x.device)", f"return {BY_HAND} * one"],
        [LOOKS, f"y = {BY_HAND}", "return y[torch.arange(len(y))]"],
        [LOOKS, "rows = [r.exp() / r.exp().sum(-1, keepdim=True) for r in x * scale]", "return torch.stack(rows)"],
        ["k = x.numpy() if x.device.type == 'cpu' and 0 else None  # meta", f"return {BY_HAND}"],
    ],
)
def test_code_that_looks_at_values_is_judged_for_its_device(folder, lines):
    report = grade(folder, weigh(*lines))
    assert (report["verdict"], check(report, "device")["status"]) == ("accepted", "pass")


def test_a_tensor_on_the_wrong_device_is_found_behind_an_if_and_a_view_in_an_edge_case(folder):
    for lines in (
        [LOOKS, f"return {BY_HAND} * torch.ones(x.shape[-1], dtype=x.dtype)"],
        [LOOKS, f"return ({BY_HAND}).masked_fill(torch.zeros(x.shape, dtype=torch.bool), 0)"],
        [LOOKS, f"return torch.zeros(x.shape, dtype=x.dtype).index_add(0, torch.arange(len(x)), {BY_HAND})"],
        [LOOKS, f"return ({BY_HAND}).cpu()"],
        [f"y = {BY_HAND}", "return y if x.dim() < 3 else y + torch.zeros(x.shape, dtype=x.dtype)"],
    ):
        assert check(grade(folder, weigh(*lines)), "device")["status"] == "fail", lines
    contiguous = f"return {BY_HAND} + 0 * x.view(-1).view(x.shape) if x.dim() == 3 else {BY_HAND}"
    assert check(grade(folder, weigh(contiguous)), "layout")["status"] == "fail"


def test_what_torch_cannot_do_without_values_says_nothing_of_devices():
    for look, needs_values in (
        (lambda x: torch.equal(x, x), True),
        (lambda x: x.sum().item(), True),
        (lambda x: bool(x.sum() > 0), True),
        (lambda x: x.nonzero(), True),
        (lambda x: x[x > 0], True),
        (lambda x: x.unique(), True),
        (lambda x: x.tolist(), True),
        (lambda x: x + torch.ones(3), False),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            look(torch.empty(3, device="meta"))
        assert wants_values(Failure("raised", quoted(str(caught.value)))) == needs_values, caught.value


def test_what_a_list_of_numbers_picks_over_there_keeps_its_values():
    x = Elsewhere(torch.arange(6.0).reshape(2, 3))
    with two_devices():
        assert x[[1]].tolist() == [[3.0, 4.0, 5.0]]
        assert x[:, [0, 2]].tolist() == [[0.0, 2.0], [3.0, 5.0]]
        assert x[[0, 1], [2, 0]].tolist() == [2.0, 3.0]
        x[:, [1]] = -1.0
    assert x.tolist() == [[0.0, -1.0, 2.0], [3.0, -1.0, 5.0]]


GROWTH = """
def rows_at(make, size):
    make.call("weigh", make.normal(size, 4))

CONTRACTS = [{
    "check": "work", "measure": "calls", "case": rows_at, "sizes": (8, 32), "bound": lambda n: n / 2,
    "growth_at_most": 1.0, "says": {"en": "a loop", "zh": "循环"},
}]
"""


def test_views_are_no_work_and_vmap_is_one_call(tmp_path):
    required = ["loads", "matches-reference", "work"]
    folder = write_challenge(tmp_path, {**SPEC, "forbidden": [], "required": required}, REFERENCE, INPUTS + GROWTH, {})
    for line in ("stack((x * scale).unbind(0))", "stack([r for r in x * scale])"):
        assert grade(folder, weigh(f"return torch.{line}.softmax(-1)"))["verdict"] == "accepted", line
    assert grade(folder, weigh("return torch.vmap(lambda r: r.softmax(-1))(x * scale)"))["verdict"] == "accepted"
    assert grade(folder, weigh("return torch.stack([r.softmax(-1) for r in x * scale])"))["verdict"] == "rejected"


def test_to_refuse_a_device_that_the_reference_handles_is_a_failure(folder, monkeypatch):
    def without_numpy(tensor: torch.Tensor) -> None:
        raise RuntimeError("Numpy is not available")  # as torch does in a worker without NumPy

    monkeypatch.setattr(torch.Tensor, "numpy", without_numpy)
    for line in (
        "if x.device.type != 'cpu': raise ValueError('only the CPU')",
        "assert x.device.type == 'cpu'",
        "torch.zeros(-1 if x.device.type != 'cpu' else 1)",
        "{'cpu': 1}[x.device.type]",
        "x.cpu().data_ptr() if x.is_cpu else x.numpy()",
    ):
        report = grade(folder, weigh(line, f"return {BY_HAND}"))
        failed = check(report, "device")
        assert (report["verdict"], failed["status"], failed["reason"]) == ("rejected", "fail", "exception"), line
        assert failed["message"].startswith("runs on the CPU only")
        assert failed["message_zh"].startswith("只能在 CPU 上运行")


def test_words_for_two_devices():
    for said, two in {
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": True,
        "weights on cuda:0 but the input is cpu": True,
        "cpu with cuda": True,
        "a tensor on cuda:0": False,
        "cuda:0, cpu": False,
        "this and that on cpu": False,
        "cuda-and-" * 60: True,
        "cuda-" * 60 + " and" * 60: False,
    }.items():
        assert (_TWO_DEVICES.search(said) is not None or _names_two_devices(said)) is two, said
