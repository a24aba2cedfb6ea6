"""An oracle that turns each pair in float64, and the laws of rotations: angles add up, distance alone counts."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

LAYOUTS = ("interleaved", "half")


def expected(x, positions, base=10000.0, layout="interleaved"):
    d = x.shape[-1]
    # (..., d/2, 2): the two components of each pair side by side
    pairs = x.double().unflatten(-1, (d // 2, 2) if layout == "interleaved" else (2, d // 2))
    if layout == "half":
        pairs = pairs.mT
    speeds = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)
    angles = positions.double()[..., None] * speeds
    if positions.dim() == 2:
        angles = angles[:, None]  # all heads of an item turn alike
    a, b = pairs.unbind(-1)
    turned = torch.stack((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), dim=-1)
    return (turned if layout == "interleaved" else turned.mT).flatten(-2)


def assert_right(actual, x, positions, *others, tolerance=2e-5):
    assert actual.dtype == x.dtype
    assert_close(actual.double(), expected(x, positions, *others), rtol=tolerance, atol=tolerance)


@given(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 9), st.integers(1, 5), st.booleans(),
    st.sampled_from([100.0, 1e4, 5e5]), st.sampled_from(LAYOUTS),
)  # fmt: skip
def test_any_shape_any_base_and_both_layouts(apply_rope, B, H, T, half, per_item, base, layout):
    # Unsorted, with gaps, and maybe repeated. Small enough for angles in float32.
    positions = torch.randint(60, (B, T) if per_item else (T,))
    x = torch.randn(B, H, T, 2 * half)
    assert_right(apply_rope(x, positions, base, layout), x, positions, base, layout)


def test_base_ten_thousand_and_interleaved_by_default(apply_rope):
    x = torch.randn(2, 3, 5, 8)
    assert_right(apply_rope(x, torch.arange(5)), x, torch.arange(5), 10000.0, "interleaved")


def test_a_quarter_turn_is_counter_clockwise_in_place(apply_rope):
    x = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
    cos, sin = torch.tensor(1.0).cos(), torch.tensor(1.0).sin()
    assert_close(apply_rope(x, torch.tensor([1]))[0, 0, 0], torch.stack((cos, sin, 0 * cos, 0 * cos)))
    assert_close(apply_rope(x, torch.tensor([1]), layout="half")[0, 0, 0], torch.stack((cos, 0 * cos, sin, 0 * cos)))


def test_position_zero_changes_no_bit(apply_rope):
    for dtype in (torch.float32, torch.float64):
        x = torch.randn(2, 2, 3, 8, dtype=dtype)
        for layout in LAYOUTS:
            assert torch.equal(apply_rope(x, torch.zeros(3, dtype=torch.int64), layout=layout), x)


def test_angles_add_up(apply_rope):
    x, m, n = torch.randn(1, 2, 3, 8), torch.tensor([1, 4, 2]), torch.tensor([9, 0, 30])
    for layout in LAYOUTS:
        twice = apply_rope(apply_rope(x, m, layout=layout), n, layout=layout)
        assert_close(twice, apply_rope(x, m + n, layout=layout), rtol=1e-4, atol=1e-4)


def test_scores_depend_on_the_distance_alone(apply_rope):
    q, k = torch.randn(1, 4, 16, 64), torch.randn(1, 4, 16, 64)
    m, n = torch.randint(100, (16,)), torch.randint(100, (16,))
    for layout in LAYOUTS:
        near, far = (
            (apply_rope(q, m + shift, layout=layout) * apply_rope(k, n + shift, layout=layout)).sum(-1)
            for shift in (0, 10_000)
        )
        assert_close(near, far, rtol=0, atol=5e-3)


def test_positions_beyond_ten_thousand(apply_rope):
    x, positions = torch.randn(1, 2, 4, 64), torch.tensor([70_001, 9_999, 20_000, 131_071])
    assert_right(apply_rope(x, positions), x, positions, tolerance=0.02)  # float32 angles of 10⁵ are off by 4·10⁻³


def test_gradients_turn_back(apply_rope):
    for layout in LAYOUTS:
        x, up = torch.randn(2, 2, 5, 6, requires_grad=True), torch.randn(2, 2, 5, 6)
        (slope,) = torch.autograd.grad(apply_rope(x, torch.arange(5), layout=layout), x, up)
        assert_close(slope.double(), expected(up, -torch.arange(5), layout=layout), rtol=1e-5, atol=1e-5)


def test_angles_of_16_bit_inputs_are_float32(apply_rope):
    positions = torch.tensor([0, 1, 257, 1001])  # bfloat16 cannot represent the last two
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.randn(2, 2, 4, 64).to(dtype)
        # Turning may be in 16 bits: three roundings of terms as large as the length of a pair.
        assert_right(apply_rope(x, positions), x, positions, tolerance=6 * torch.finfo(dtype).eps)
    x = torch.randn(1, 1, 1, 64).half()
    beyond = torch.tensor([70_001])  # more than float16 holds
    assert_right(apply_rope(x, beyond), x, beyond, tolerance=0.05)


def test_any_memory_layout(apply_rope):
    positions = torch.arange(20)[::4].expand(2, 5)
    transposed, strided = torch.randn(2, 5, 3, 8).transpose(1, 2), torch.randn(2, 3, 5, 16)[..., ::2]
    for x in (transposed, strided, torch.randn(8).expand(2, 3, 5, 8)):
        assert_right(apply_rope(x, positions), x, positions)


def test_device_and_arguments(apply_rope):
    assert apply_rope(torch.ones(1, 2, 3, 4, device="meta"), torch.arange(3, device="meta")).device.type == "meta"
    for T in (1, 3):
        x, positions = torch.randn(1, 2, T, 4), torch.zeros(T, dtype=torch.int64)
        x_before, positions_before = x.clone(), positions.clone()
        result = apply_rope(x, positions)
        assert torch.equal(x, x_before) and torch.equal(positions, positions_before)
        x.zero_()  # position 0 gives the values of x, in other memory
        assert torch.equal(result, x_before)
