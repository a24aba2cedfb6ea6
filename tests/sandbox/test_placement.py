"""Move tensors to a device and back, with the fake device."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
import torch
from torch import Tensor

from attncli.sandbox import devices
from attncli.sandbox.devices import CPU, CUDA, ELSEWHERE, MAX_DEPTH, Elsewhere, Walk, tensors_in, with_each
from attncli.sandbox.values import DTYPES, TreeError, bytes_of, describe_tensor, read_table

ONE, TWO = torch.ones(1), torch.full((1,), 2.0)


def nested(levels: int) -> Any:
    value: Any = ONE
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_placed_comes_home_to_the_bit_in_its_layout() -> None:
    for dtype in DTYPES.values():
        tensor = torch.arange(24).reshape(2, 3, 4).to(dtype)
        there = devices.placed(tensor, ELSEWHERE)
        assert devices.place_of(there) == ELSEWHERE and devices.place_of(tensor) == CPU
        assert bytes_of(devices.home(there)) == bytes_of(tensor) == bytes_of(there)
    for tensor in (torch.ones(2, 3).T, torch.ones(1, 3).expand(2, 3), torch.ones(2, 7)[:, :-1:2]):
        there = devices.placed(tensor, ELSEWHERE)
        assert (there.shape, there.stride(), there.storage_offset()) == (tensor.shape, tensor.stride(), 0)


def test_a_tensor_says_where_it_was_and_its_values_cross() -> None:
    there = devices.placed(torch.tensor([1.0, 2.0]), ELSEWHERE)
    entry = describe_tensor(there)
    assert entry == {"dtype": "float32", "shape": [2], "on": "elsewhere", "nbytes": 8}
    (read,) = read_table([entry], memoryview(bytes_of(there)))
    assert read.tolist() == [1.0, 2.0] and read.device.type == "cpu"
    form = describe_tensor(devices.placed(torch.ones(2, 3), ELSEWHERE), values=False)
    assert form == {"dtype": "float32", "shape": [2, 3], "device": "meta", "nbytes": 0}
    assert describe_tensor(torch.empty(2, 3, device="meta")) == form
    for place in ("cpu", "moon", 3, None, ["cuda"]):
        with pytest.raises(TreeError, match="on a device that nobody knows"):
            read_table([{"dtype": "float32", "shape": [1], "nbytes": 4, "on": place}], memoryview(bytes(4)))


def test_a_function_of_the_cpu_is_called_across_and_nested_results_come_home() -> None:
    seen: list[str] = []

    def model(x: Tensor, extra: dict[str, Tensor]) -> tuple[Tensor, int]:
        seen.append(x.device.type)
        return x + extra["bias"], 7

    x, bias = (devices.placed(torch.ones(2), ELSEWHERE) for _ in range(2))
    result, number = devices.across(model, ELSEWHERE)(x, {"bias": bias})
    assert seen == ["cpu"] and number == 7
    assert type(result) is Elsewhere and devices.home(result).tolist() == [2.0, 2.0]
    there, marker = devices.placed(torch.ones(1), ELSEWHERE), object()
    home = devices.brought_home({"a": [there, (there, marker)], "n": 3})
    assert home["a"][0].tolist() == [1.0] and home["a"][1][1] is marker and home["n"] == 3


def test_operations_in_place_and_gradients_are_taken_there() -> None:
    x = devices.placed(torch.ones(1, 3), ELSEWHERE)
    leaf = devices.as_leaf(devices.placed(torch.tensor([1.0, 2.0]), ELSEWHERE))
    with devices.beside(ELSEWHERE):
        x.squeeze_(0)
        assert x.shape == (3,)
        assert devices.home(x @ devices.placed(torch.ones(3, 2), ELSEWHERE)).tolist() == [3.0, 3.0]
        (gradient,) = torch.autograd.grad((leaf * leaf).sum(), [leaf])
    assert devices.place_of(gradient) == ELSEWHERE and devices.home(gradient).tolist() == [2.0, 4.0]
    assert [devices.torch_name(name) for name in (CPU, CUDA, ELSEWHERE)] == ["cpu", "cuda", "meta"]


def test_a_function_is_called_across_with_what_is_in_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake device plays the GPU; tensors at the deepest permitted nesting are moved back too."""
    moved: list[str] = []
    monkeypatch.setattr(devices, "home", lambda tensor: moved.append("home") or tensor)
    monkeypatch.setattr(devices, "placed", lambda tensor, device: moved.append(device) or tensor)
    across = devices.across(lambda deep, scale: {"a": (torch.ones(1), scale)}, "cpu")
    result = across(nested(MAX_DEPTH + 1), scale=torch.ones(1))
    assert moved == ["home", "home", "cpu", "cpu"] and list(result) == ["a"]
    assert devices.across(lambda: torch.ones(1), "cpu")().tolist() == [1.0] and len(moved) == 4


class Events:
    """Fake GPU events like torch's: each records a shared clock when the work before it is done."""

    now_ms = 0.0
    waiting_ms = 0.0

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing
        self.at_ms = -1.0

    def record(self) -> None:
        self.at_ms = Events.now_ms

    def synchronize(self) -> None:
        assert self.at_ms >= 0

    def elapsed_time(self, end: Events) -> float:
        return end.at_ms - self.at_ms

    @classmethod
    def wait_for_all(cls) -> None:
        cls.now_ms, cls.waiting_ms = cls.now_ms + cls.waiting_ms, 0.0


def test_the_clock_of_a_gpu_counts_other_streams_and_nothing_from_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", Events)
    monkeypatch.setattr(torch.cuda, "synchronize", Events.wait_for_all)
    Events.waiting_ms = 40.0
    with devices.DeviceClock(CUDA) as clock:
        Events.now_ms += 1.5
        Events.waiting_ms = 2.25
    assert clock.microseconds() == 3750


def test_each_tensor_in_lists_tuples_dicts_and_iterators_is_found_or_changed_and_anything_else_stays() -> None:
    found = list(tensors_in({"a": [ONE, (TWO, 3)], "b": Walk([ONE]), "c": {TWO}, "d": None}))
    assert [id(tensor) for tensor in found] == [id(ONE), id(TWO), id(ONE)]
    marker, pair = object(), namedtuple("pair", "first second")(ONE, TWO)
    value = {"a": [ONE, (TWO, marker)], "b": pair, 3: "text"}
    changed = with_each(value, lambda tensor: tensor + 1)
    assert changed["a"][0].tolist() == [2.0] and changed["a"][1][0].tolist() == [3.0]
    assert type(changed["a"][1]) is tuple and changed["a"][1][1] is marker
    assert changed["b"] is pair and changed[3] == "text"
    assert value["a"][0] is ONE, "the value itself is left as it was"


def test_both_walks_end_at_one_depth_also_in_a_value_that_holds_itself() -> None:
    for levels, seen in ((MAX_DEPTH + 1, True), (MAX_DEPTH + 2, False)):
        touched: list[Tensor] = []
        with_each(nested(levels), lambda tensor, touched=touched: touched.append(tensor) or tensor)
        assert (len(list(tensors_in(nested(levels)))), len(touched)) == (seen, seen)
    loop: list[Any] = [ONE]
    loop.append(loop)
    assert len(list(tensors_in(loop))) == MAX_DEPTH + 1
    assert with_each(loop, torch.neg)[0].tolist() == [-1.0]
