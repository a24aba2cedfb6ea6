"""Send values to the judge unchanged; nothing malformed passes the decoder."""

from __future__ import annotations

import contextlib
import json
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.judge.case import Case, Profile
from attncli.judge.guard import Guard
from attncli.judge.submission import Callables
from attncli.sandbox import values as module
from attncli.sandbox.values import (
    DTYPES,
    Environment,
    Packer,
    TreeError,
    bytes_of,
    describe_tensor,
    read_table,
    resolve,
)

plain = st.none() | st.booleans() | st.integers(-(2**70), 2**70)
scalars = plain | st.floats(allow_nan=False) | st.text(max_size=20) | st.binary(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers(0, 9)), inner, max_size=4),
    ),
    max_leaves=12,
)


def crossed(value):
    packer = Packer()
    tree = json.loads(json.dumps(packer.pack(value)))
    table = json.loads(json.dumps([describe_tensor(t) for t in packer.tensors]))
    payload = memoryview(b"".join(bytes_of(t) for t in packer.tensors))
    return resolve(tree, Environment(read_table(table, payload)))


@given(values)
def test_plain_values_come_back_equal_and_of_the_same_type(value):
    back = crossed(value)
    assert back == value and type(back) is type(value)


def test_tensors_come_back_bit_for_bit_and_layouts_travel_when_asked():
    for dtype, shape in product(DTYPES.values(), ((), (0,), (3,), (2, 0, 3), (2, 3, 5))):
        tensor = (torch.randn(shape) * 3).to(dtype)
        back = crossed({"a": [tensor, tensor]})["a"]
        assert back[0].dtype is tensor.dtype and back[0].shape == tensor.shape
        assert bytes_of(back[0]) == bytes_of(tensor)
        assert back[0] is back[1]
    base = torch.arange(24.0).reshape(2, 3, 4)
    for tensor in (base.transpose(0, 2), base[..., ::2], base[:1].expand(5, 3, 4)):
        entry = describe_tensor(tensor, keep_strides=True)
        back = read_table([entry], memoryview(bytes_of(tensor, keep_strides=True)), writable_strides=True)[0]
        assert back.stride() == tensor.stride() and torch.equal(back, tensor)


def test_floats_that_are_not_finite_cross_and_what_is_no_plain_value_does_not():
    back = crossed([float("inf"), float("-inf"), float("nan")])
    assert back[:2] == [float("inf"), float("-inf")] and back[2] != back[2]
    assert crossed([type("Thing", (), {})()]) == [module.Opaque("Thing")]
    assert Packer().pack(torch.zeros(2).as_subclass(type("Mine", (torch.Tensor,), {}))) == ["o", "Mine"]
    cycle: list = []
    cycle.append(cycle)
    with pytest.raises(TreeError):
        Packer().pack(cycle)
    with pytest.raises(TreeError):
        read_table([{"dtype": "float32", "shape": [2**20] * 4, "nbytes": 4}], memoryview(b"1234"))


json_values = st.recursive(
    plain | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=15,
)
tags = st.sampled_from("n b i f s y t dt dv l u d r m g c o raised".split())
tree_like = st.recursive(
    st.tuples(tags, json_values).map(list),
    lambda inner: st.tuples(tags, st.lists(inner, max_size=3)).map(list),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.one_of(json_values, tree_like))
def test_a_malformed_tree_raises_tree_error_and_nothing_else(tree):
    with contextlib.suppress(TreeError):
        resolve(tree, Environment([torch.zeros(2)]))


entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.one_of(st.sampled_from(sorted(DTYPES)), json_values),
        "shape": st.one_of(st.lists(st.integers(-2, 2**45), max_size=9), json_values),
        "nbytes": st.one_of(st.integers(-5, 2**45), json_values),
        "device": st.sampled_from(["meta", "cpu"]),
        "stride": json_values,
        "offset": json_values,
    },
)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.one_of(json_values, st.lists(entries, max_size=3)), st.binary(max_size=64))
def test_a_malformed_table_raises_tree_error_before_it_allocates(table, payload):
    with contextlib.suppress(TreeError):
        for tensor in read_table(table, memoryview(payload)):
            assert tensor.device.type == "meta" or tensor.numel() * tensor.element_size() <= len(payload)


@given(json_values, st.binary(max_size=32))
def test_a_forged_call_of_a_callable_becomes_an_error_there(asked, payload):
    request = asked if isinstance(asked, dict) else {"callable": 0, "arguments": asked, "tensors": []}
    case = Case(Profile("ordinary"), callables=[lambda *args: args])
    header, _ = Callables(case, Guard()).answer(request, memoryview(payload))
    assert "error" in header or "value" in header
