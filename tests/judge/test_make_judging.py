"""`make.judge`, `make.repeats` and `make.moves_on`: check random results by the properties that they must have."""

from __future__ import annotations

import pytest

from in_process import check, grade, write_challenge

HEAD = "import torch\n"
REFERENCE = (
    HEAD
    + "def drop(x, generator=None):\n    return x * (torch.rand(x.shape, generator=generator).to(x.device) < 0.5) * 2\n"
)
INPUTS = """
import torch

def case(make):
    x = make.keep(torch.ones(40))
    make.judge(lambda got: make.one_of(got, 0.0, 2.0), make.call("drop", x))

def edge_states(make):
    "states"
    make.repeats(lambda generator: make.call("drop", make.keep(torch.ones(90)), generator))
    make.moves_on(lambda generator: make.call("drop", make.keep(torch.ones(90)), generator), torch.Tensor.bool)

def random(make):
    def holds(got):
        yield make.share(got == 0, 0.5, "dropped", "丢掉的")
        yield make.one_of(got, 0.0, 2.0)
    make.judge(holds, make.call("drop", make.keep(torch.ones(900))))

def edge_gradients(make):
    "gradients"
    x, y = make.normal(5), make.normal(7)
    make.judge(lambda got: None, make.call("drop", x))
    second = make.call("drop", y)
    other = "another's gradient", "别的梯度"
    make.judge(lambda got, y, x: None if (len(y), len(x)) == (7, 5) else other, second, y, x)
    make.judge(lambda got, grad: make.one_of(grad, got.bool() * 2.0, gradient=True), second, y)
"""
SAYS = {"entry": ["drop"], "required": ["loads", "matches-reference", "edge-cases", "random"], "forbidden": []}


@pytest.fixture
def told(tmp_path):
    folder = write_challenge(tmp_path, {"id": "drop", **SAYS}, REFERENCE, INPUTS, {})
    return lambda source, name: check(grade(folder, source), name).get("message", "")


def test_a_sound_solution_is_accepted(tmp_path):
    folder = write_challenge(tmp_path, {"id": "drop", **SAYS}, REFERENCE, INPUTS, {})
    assert grade(folder, REFERENCE)["verdict"] == "accepted"


@pytest.mark.parametrize(
    ("change", "name", "message"),
    [
        (("* 2", "* 3"), "matches-reference", "is 3; it must be 0 or 2"),
        (("return x *", "return x[None] *"), "matches-reference", "shape"),
        (("* 2", "* 2.0 + x.double() * 0"), "matches-reference", "dtype"),
        (("< 0.5", "< 0.8"), "random", "dropped: "),
        (("generator=generator", "generator=None"), "edge-cases", "comes from elsewhere"),
        (
            ("rand(x.shape, generator=generator)", "rand(x.shape, generator=torch.Generator())"),
            "edge-cases",
            "no state",
        ),
        (("* 2", "* (2 + 0 * x.detach()) + 3 * (x - x.detach())"), "edge-cases", "of the gradient"),
    ],
)
def test_what_is_wrong_is_told(told, change, name, message):
    assert message in told(REFERENCE.replace(*change), name)
