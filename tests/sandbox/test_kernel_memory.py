"""Map addresses of one launch: each belongs to an element of an argument, or to none."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attncli.sandbox.kernels import GAP_BYTES, KernelFault, LaunchMemory

SIZE = 4


def addresses(memory: LaunchMemory, tensor: Tensor, *elements: int) -> Tensor:
    first = memory.placed(tensor).data_ptr()
    return torch.tensor([first + SIZE * element for element in elements])


def fault(memory: LaunchMemory, doing: str, at: Tensor, program: int = 0) -> dict[str, object]:
    with pytest.raises(KernelFault) as caught:
        getattr(memory, doing)(at, SIZE, program)
    return caught.value.fault


@st.composite
def views(draw: st.DrawFn) -> Tensor:
    """Draw a float32 tensor of one or two dimensions: contiguous, transposed or strided."""
    whole = torch.arange(draw(st.integers(1, 6)) * draw(st.integers(1, 6)), dtype=torch.float32)
    rows = draw(st.sampled_from([n for n in range(1, whole.numel() + 1) if whole.numel() % n == 0]))
    table = whole.view(rows, -1)
    return draw(st.sampled_from([whole, table, table.T, table[:, ::2], table[::2], whole[whole.numel() // 2 :]]))


@given(views(), st.data())
def test_an_access_is_let_through_just_where_an_element_of_the_argument_begins(tensor: Tensor, data: st.DataObject):
    memory = LaunchMemory({"x": tensor})
    places = torch.cartesian_prod(*map(torch.arange, tensor.shape)).view(-1, tensor.dim())
    own = set((places * torch.tensor(tensor.stride())).sum(1).tolist())
    around = st.integers(-GAP_BYTES // SIZE + 1, max(own) + GAP_BYTES // SIZE - 1)
    element = data.draw(around | st.sampled_from(sorted(own)))
    if element in own:
        memory.load(addresses(memory, tensor, element), SIZE, 0)
    else:
        told = fault(memory, "load", addresses(memory, tensor, element))
        between = 0 <= element <= max(own)
        assert (told["kind"], told["index"]) == ("load-between" if between else "load-outside", element)


@given(views())
def test_what_lies_in_the_arena_is_the_argument_and_comes_back_when_it_was_written(tensor: Tensor):
    before = tensor.clone()
    memory = LaunchMemory({"x": tensor})
    placed = memory.placed(tensor)
    assert torch.equal(placed, tensor) and placed.stride() == tensor.stride()
    placed.add_(1)
    memory.write_back()
    assert torch.equal(tensor, before)
    memory.store(addresses(memory, tensor, 0), SIZE, 0)
    memory.write_back()
    assert torch.equal(tensor, before + 1)


def test_two_arguments_are_told_apart_and_views_of_one_storage_share_it():
    x, y = torch.zeros(8), torch.zeros(8)
    memory = LaunchMemory({"x": x, "low": y[:4], "high": y[4:]})
    assert fault(memory, "load", addresses(memory, x, 8))["tensor"] == "x"
    memory.load(addresses(memory, y[:4], 4), SIZE, 0)
    assert fault(memory, "store", addresses(memory, y[:4], 8))["tensor"] == "high"
    assert fault(memory, "store", addresses(memory, y[:4], -1))["tensor"] == "low"


def test_a_byte_off_is_no_element_and_bytes_moved_are_counted():
    x = torch.zeros(8)
    memory = LaunchMemory({"x": x})
    assert fault(memory, "load", addresses(memory, x, 3) + 1)["kind"] == "load-between"
    memory = LaunchMemory({"x": x})
    memory.load(addresses(memory, x, 0, 1, 2), SIZE, 0)
    memory.store(addresses(memory, x, 0), SIZE, 0)
    assert memory.moved == 4 * SIZE


def test_programs_that_need_an_order_are_refused():
    x = torch.zeros(8)
    for first, second, kind in (
        ("store", "store", "store-twice"),
        ("store", "load", "load-after-store"),
        ("load", "store", "store-after-load"),
    ):
        memory = LaunchMemory({"x": x})
        getattr(memory, first)(addresses(memory, x, 2, 3), SIZE, 5)
        getattr(memory, second)(addresses(memory, x, 2), SIZE, 5)
        getattr(memory, second)(addresses(memory, x, 4), SIZE, 6)
        told = fault(memory, second, addresses(memory, x, 1, 3), 6)
        assert (told["kind"], told["index"], told["programs"]) == (kind, 3, [6, 5])


def test_many_may_load_and_many_may_add_atomically_but_not_beside_a_plain_store():
    x = torch.zeros(8)
    memory = LaunchMemory({"x": x})
    for program in (0, 1, 2):
        memory.load(addresses(memory, x, 0), SIZE, program)
        memory.add(addresses(memory, x, 1), SIZE, program)
    assert fault(memory, "store", addresses(memory, x, 0), 1)["kind"] == "store-after-load"
    assert fault(memory, "store", addresses(memory, x, 1), 0)["kind"] == "store-twice"
    memory.store(addresses(memory, x, 5), SIZE, 0)
    assert fault(memory, "add", addresses(memory, x, 5), 1)["kind"] == "store-twice"
