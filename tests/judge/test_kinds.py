"""Send values besides tensors and numbers to the worker: each kind that a challenge may take, accepted and rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from attncli.errors import JudgeFailed
from in_process import grade, write_challenge

HEAD = "import torch\n"
PLAIN = ["loads", "matches-reference", "edge-cases", "pure"]
DIFFERENTIATED = [*PLAIN, "gradients", "layout", "device"]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def graded(root: Path, source: str, entry: str, reference: str, inputs: str, required: list[str]) -> dict[str, Any]:
    spec = {"id": "kind", "entry": entry.split(), "required": required, "forbidden": [], "cards": []}
    folder = write_challenge(root, spec, HEAD + reference, HEAD + inputs, {})
    return grade(folder, HEAD + source)


def sound(root: Path, source: str, *challenge: Any) -> bool:
    return graded(root, source, *challenge)["verdict"] == "accepted"


def reasons(root: Path, source: str, *challenge: Any) -> set[str]:
    """Return the reasons of a rejection, check by check."""
    report = graded(root, source, *challenge)
    assert report["verdict"] == "rejected", report
    return {found["reason"] for found in report["checks"] if found["status"] == "fail" and found["required"]}


EIGHT_BITS = (
    "pack unpack",
    """
def pack(x):
    return (x.abs().amax(-1) / 4).to(torch.float32).to(torch.float8_e4m3fn)

def unpack(codes):
    return codes.to(torch.float32) * 4
""",
    """
GRADIENTS = False

def case(make):
    x = make.normal(3, 5)
    make.call("pack", x)
    codes = torch.randn(3, generator=make.random).to(torch.float8_e4m3fn)
    make.call("unpack", make.keep(codes, dtype="fixed"))

def edge_nan(make):
    "not a number"
    make.call("pack", make.keep(torch.tensor([[float("nan"), 1.0], [2.0, 0.0]])))
""",
    PLAIN,
)


def test_floats_of_eight_bits_are_arguments_and_results_compared_exactly(tmp_path):
    assert sound(tmp_path, EIGHT_BITS[1].replace("amax(-1)", "max(-1).values"), *EIGHT_BITS)
    off_by_a_step = EIGHT_BITS[1].replace(".to(torch.float8_e4m3fn)", "\\\n        .mul(1.13).to(torch.float8_e4m3fn)")
    assert reasons(tmp_path, off_by_a_step, *EIGHT_BITS) == {"values"}
    assert reasons(tmp_path, EIGHT_BITS[1].replace("e4m3fn", "e5m2"), *EIGHT_BITS) == {"dtype"}


CODES = (
    "quantise",
    """
def quantise(x):
    scale = x.abs().amax(-1, keepdim=True).clamp_min(1e-30) / 7
    code = (x / scale).round().to(torch.int8) + 8
    return (code[..., ::2] + 16 * code[..., 1::2].to(torch.int16)).to(torch.uint8), scale
""",
    """
GRADIENTS = False

def decoded(codes, scale):
    low, high = codes.to(torch.int16) % 16 - 8, codes.to(torch.int16) // 16 - 8
    return torch.stack([low, high], -1).flatten(-2) * scale

def case(make):
    x = make.normal(make.size(1, 4), 6)

    def near(codes, scale):
        if (decoded(codes, scale) - x.detach()).abs().le(0.51 * scale).all():
            return None
        return "off by more than half a step", "误差超过半个步长"

    result = make.call("quantise", x)
    make.judge(near, result[0], result[1])
""",
    PLAIN,
)


def test_codes_are_decoded_and_judged(tmp_path):
    other_scale = CODES[1].replace("/ 7", "/ 7 * 0.999999")
    assert sound(tmp_path, other_scale, *CODES)
    assert reasons(tmp_path, CODES[1].replace("::2] + 16", "1::2] + 16").replace("1::2].to", "::2].to"), *CODES)
    assert "dtype" in reasons(tmp_path, CODES[1].replace("uint8", "int32"), *CODES)


RAGGED = (
    "pack unpack",
    """
def pack(parts):
    return torch.cat(parts), torch.tensor([len(p) for p in parts], dtype=torch.int32, device=parts[0].device)

def unpack(x, sizes):
    return [2 * part for part in x.split(sizes)]
""",
    """
def case(make):
    parts = [make.normal(n, 3) for n in (make.size(0, 4), make.size(1, 5), 0)]
    packed = make.call("pack", parts)
    make.call("unpack", make.normal(6, 3), [2, 0, 4])
""",
    DIFFERENTIATED,
)


def test_lists_of_tensors_of_unequal_length_go_in_and_come_out(tmp_path):
    assert sound(tmp_path, RAGGED[1].replace("2 * part", "part + part"), *RAGGED)
    assert "values" in reasons(tmp_path, RAGGED[1].replace("2 * part", "3 * part"), *RAGGED)
    assert "shape" in reasons(tmp_path, RAGGED[1].replace("x.split(sizes)]", "x.split(sizes) if len(part)]"), *RAGGED)
    assert reasons(tmp_path, RAGGED[1].replace("2 * part", "2 * part.detach()"), *RAGGED) == {"gradient"}
    kept = RAGGED[1].replace("    return torch.cat", "    parts.append(parts.pop(0))\n    return torch.cat")
    assert reasons(tmp_path, kept, *RAGGED)


WALKED = (
    "total",
    """
def total(chunks):
    result = 0.0
    for chunk in chunks:
        result = result + chunk.exp().sum(-1)
    return result
""",
    """
def case(make):
    make.call("total", make.iterator([make.normal(2, make.size(1, 4)) for _ in range(make.size(1, 3))]))

def edge_list(make):
    "a list"
    make.call("total", [make.normal(2, 3), make.normal(2, 1)])
""",
    DIFFERENTIATED,
)


def test_an_iterator_can_be_walked_once(tmp_path):
    assert sound(tmp_path, "def total(chunks):\n    return torch.cat(list(chunks), -1).exp().sum(-1)\n", *WALKED)
    twice = """
def total(chunks):
    most = max(chunk.max().item() for chunk in chunks)
    return sum((chunk - most).exp().sum(-1) for chunk in chunks) * 2.718281828 ** most
"""
    assert reasons(tmp_path, twice, *WALKED)
    first_alone = "def total(chunks):\n    return next(iter(chunks)).exp().sum(-1)\n"
    assert "values" in reasons(tmp_path, first_alone, *WALKED)
    in_place = WALKED[1].replace("chunk.exp()", "chunk.exp_()")
    assert reasons(tmp_path, in_place, *WALKED)


BYTES = (
    "twice",
    "def twice(text):\n    return text + text, list(text)\n",
    """
def case(make):
    make.call("twice", bytes(make.integers(0, 256, make.size(0, 5)).tolist()))
""",
    PLAIN,
)


def test_bytes_go_in_and_come_out(tmp_path):
    assert sound(tmp_path, "def twice(text):\n    return 2 * text, [*text]\n", *BYTES)
    assert reasons(tmp_path, "def twice(text):\n    return bytearray(2 * text), [*text]\n", *BYTES) == {"shape"}


BLOCKS = (
    "Blocks",
    """
class Blocks:
    def __init__(self, count):
        self.free, self.held = list(range(count)), {}

    def take(self, owner):
        if not self.free:
            raise MemoryError("no block is free")
        self.held.setdefault(owner, []).append(self.free.pop())
        return self.held[owner][-1], len(self.held[owner])

    def give(self, owner):
        self.free += self.held.pop(owner)

    def state(self):
        return {owner: sorted(blocks) for owner, blocks in self.held.items()}, sorted(self.free)
""",
    """
def case(make):
    blocks = make.new("Blocks", 3)
    for _ in range(make.size(4, 12)):
        owner = make.pick([7, 8, 9])
        if make.flag():
            taken = make.method_raises(MemoryError, blocks, "take", owner)
        else:
            taken = make.method_raises(KeyError, blocks, "give", owner)
        make.judge(sound, taken)
        make.judge(whole, make.method(blocks, "state"))

def sound(taken):
    return None

def whole(state):
    held, free = state
    if sorted(free + [block for blocks in held.values() for block in blocks]) == [0, 1, 2]:
        return None
    return "a block is lost, or held twice", "有块丢了，或被占了两次"

def edge_as_the_reference_does(make):
    "call by call"
    blocks = make.new("Blocks", 2)
    for name, owner in (("take", 1), ("give", 2), ("take", 1), ("take", 3), ("give", 1), ("give", 1), ("take", 3)):
        make.method_raises(Exception, blocks, name, owner)
        make.method(blocks, "state")
""",
    PLAIN,
)


def test_classes_of_plain_python_are_judged_by_laws_and_by_the_reference(tmp_path):
    assert sound(tmp_path, BLOCKS[1].replace("sorted(self.free)", "sorted([*self.free])"), *BLOCKS)
    lost = BLOCKS[1].replace("self.free += self.held.pop(owner)", "self.free.append(self.held.pop(owner)[0])")
    assert "values" in reasons(tmp_path, lost, *BLOCKS)
    forgiving = BLOCKS[1].replace("self.held.pop(owner)", "self.held.pop(owner, [])")
    assert "exception" in reasons(tmp_path, forgiving, *BLOCKS)
    other_error = BLOCKS[1].replace("MemoryError", "ValueError")
    assert "exception" in reasons(tmp_path, other_error, *BLOCKS)
    of_the_class = (
        BLOCKS[1].replace("class Blocks:", "class Blocks:\n    shared = {}").replace("{}\n\n", "self.shared\n\n")
    )
    assert reasons(tmp_path, of_the_class, *BLOCKS)


MODEL = '''
def kept(make, *shape):
    return make.keep(torch.randn(shape, generator=make.random))

def model(make):
    """Attention projections and an MLP under the names that models give them."""
    def linear(rows, columns):
        made = make.new("torch.nn.Linear", columns, rows)
        make.set(made, {"weight": kept(make, rows, columns), "bias": kept(make, rows)})
        return made

    attention = {"q_proj": linear(2, 2), "v_proj": linear(2, 2), "c_proj": linear(2, 2)}
    mlp = {"c_fc": linear(3, 2), "c_proj": linear(2, 3)}
    norm = make.new("torch.nn.LayerNorm", 2)
    parts = {name: make.new("torch.nn.ModuleDict", part) for name, part in (("attn", attention), ("mlp", mlp))}
    return make.new("torch.nn.ModuleDict", {**parts, "norm": norm}), [*attention.values(), norm, *mlp.values()]

def train(make, parts, optimizer):
    """One step, in which every part has a gradient."""
    make.compare(make.method(optimizer, "zero_grad"), False)
    x = kept(make, 4, 2)
    for part in parts:
        x = make.method(part, "forward", x)
        make.compare(x, False)
    make.method(make.method(make.method(x, "square"), "sum"), "backward")
    make.compare(make.method(optimizer, "step"), False)
'''
FROZEN = (
    "freeze",
    """
def freeze(model, which):
    names = [n for n, m in model.named_modules() if n.split(".")[-1] == "q_proj" or (which == "mlp" and "mlp." in n)]
    for name in names:
        model.get_submodule(name).weight.requires_grad_(False)
    return [name + ".weight" for name in names]
""",
    MODEL
    + """
GRADIENTS = False
def case(make):
    whole, parts = model(make)
    make.call("freeze", whole, make.pick(["qk", "mlp"]))
    parameters = make.read(whole, "parameters")
    make.compare(parameters, False)
    optimizer = make.new("torch.optim.AdamW", parameters, lr=0.1, weight_decay=0.1)
    train(make, parts, optimizer)
    make.read(whole, "named_parameters")
""",
    PLAIN,
)


def test_a_model_of_named_pieces_is_an_argument_and_is_trained_afterwards(tmp_path):
    other_way = FROZEN[1].replace("weight.requires_grad_(False)", "weight.requires_grad = False")
    assert sound(tmp_path, other_way, *FROZEN)
    all_frozen = FROZEN[1].replace(".weight.requires_grad_", ".requires_grad_")
    assert "values" in reasons(tmp_path, all_frozen, *FROZEN)
    changed = FROZEN[1].replace("    return", "        model.get_submodule(name).weight.data.mul_(1.001)\n    return")
    assert "values" in reasons(tmp_path, changed, *FROZEN)
    assert reasons(tmp_path, FROZEN[1].replace('+ ".weight"', '+ ".bias"'), *FROZEN) == {"values"}


GROUPED = (
    "groups",
    """
def groups(model, lr, ratio=16.0):
    named = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    last = [p for n, p in named if n.startswith("mlp")]
    rest = [p for n, p in named if not n.startswith("mlp")]
    return [{"params": last, "lr": ratio * lr}, {"params": rest, "lr": lr}]
""",
    MODEL
    + """
GRADIENTS = False
VIEWS_OF_STATE = ("groups",)
def case(make):
    whole, parts = model(make)
    make.compare(made := make.call("groups", whole, 0.01, ratio=make.pick([4.0, 16.0])), False)
    optimizer = make.new("torch.optim.SGD", made, lr=0.0)
    train(make, parts, optimizer)
    make.read(whole, "named_parameters")
    make.method(make.read(optimizer, "param_groups"), "__len__")
""",
    PLAIN,
)


def test_groups_of_parameters_are_judged_by_what_an_optimizer_makes_of_them(tmp_path):
    assert sound(tmp_path, GROUPED[1].replace("ratio * lr", "lr * ratio"), *GROUPED)
    assert "values" in reasons(tmp_path, GROUPED[1].replace("ratio * lr", "lr"), *GROUPED)
    copies = GROUPED[1].replace("[p for n, p in named if n.", "[p.detach().clone() for n, p in named if n.")
    assert "values" in reasons(tmp_path, copies, *GROUPED)
    twice = GROUPED[1].replace('"params": rest', '"params": rest + last')
    assert "exception" in reasons(tmp_path, twice, *GROUPED)


CALLED = (
    "sharded",
    """
def sharded(x, shards, act, reduce):
    return reduce([act(x @ shard) for shard in shards])
""",
    """
def shards(make, grad):
    return make.normal(2, 3, grad=grad), [make.normal(3, 4, grad=grad) for _ in range(make.size(1, 3))]

def case(make):
    act = make.function(make.pick(["lambda x: x.tanh()", "torch.nn.functional.silu"]))
    make.call("sharded", *shards(make, True), act, make.function("lambda parts: torch.stack(parts).sum(0)"))

def edge_reduced_once(make):
    "one reduction"
    reduce = make.callable(lambda parts: sum(parts))
    make.count(reduce)
    make.call("sharded", *shards(make, False), make.function("torch.relu"), reduce)
""",
    DIFFERENTIATED,
)


def test_functions_are_differentiated_through_and_callables_counted(tmp_path):
    assert sound(tmp_path, CALLED[1].replace("[act", "list(act").replace("shards]", "shards)"), *CALLED)
    assert reasons(tmp_path, CALLED[1].replace("act(x @", "act(x.detach() @"), *CALLED) == {"gradient"}
    by_itself = CALLED[1].replace("reduce([", "sum([")
    assert reasons(tmp_path, by_itself, *CALLED) == {"shape"}
    twice = CALLED[1].replace("return", "part = reduce([x @ shards[0]])\n    return")
    assert reasons(tmp_path, twice, *CALLED) == {"shape"}


def test_calls_of_a_function_cannot_be_counted(tmp_path):
    inputs = CALLED[2].replace("make.callable(lambda parts: sum(parts))", 'make.function("sum")')
    with pytest.raises(JudgeFailed, match=r"make.count needs a make.callable"):
        graded(tmp_path, CALLED[1], CALLED[0], CALLED[1], inputs, CALLED[3])
