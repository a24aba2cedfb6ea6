"""Run the claims and measurements of the `prec` cards."""

import pytest
import torch
from torch import Tensor, nn

from .conftest import drawn_float32 as drawn
from .conftest import says

BF16 = torch.bfloat16


def test_prec_01_all_codes_of_fp8() -> None:
    says("prec-01", "E4M3 gives 254 finite values, 2 NaN and no infinity")
    for dtype, numbers, largest in ((torch.float8_e4m3fn, (254, 2, 0), 448), (torch.float8_e5m2, (248, 6, 2), 57344)):
        values = torch.arange(256, dtype=torch.uint8).view(dtype).float()
        assert tuple(int(kind.sum()) for kind in (values.isfinite(), values.isnan(), values.isinf())) == numbers
        assert float(values[values.isfinite()].max()) == largest


def test_prec_04_which_bf16_weights_fp16_holds_exactly() -> None:
    says("prec-04", "convert exactly from 2⁻¹⁷ up to 65504", "to within 2⁻²⁵")
    every = torch.arange(-(2**15), 2**15).to(torch.int16).view(BF16).float()
    every = every[every.isfinite() & (every.abs() <= 65504)]
    error = (every.half().float() - every).abs()
    assert float(error[every.abs() >= 2**-17].max()) == 0
    assert 0 < float(error.max()) <= 2**-25


def test_prec_04_the_error_of_a_dot_product_of_rounded_inputs() -> None:
    says("prec-04", "0.23 % of the standard deviation, at 64 terms as at 4096")
    for terms in (64, 4096):
        a, b = drawn(0, 1000, terms).double(), drawn(1, 1000, terms).double()
        error = (a.to(BF16).double() * b.to(BF16).double()).sum(1) - (a * b).sum(1)
        assert float(error.std() / (a * b).sum(1).std()) == pytest.approx(0.0023, abs=0.0002)


def test_prec_06_and_07_counting_and_moments_in_16_bits() -> None:
    says("prec-06", "v is still 1 after 1000 steps instead of 0.37")
    v, exact = torch.ones((), dtype=BF16), torch.ones(())
    for _ in range(1000):
        v, exact = v * 0.999, exact * 0.999
    assert float(v) == 1.0 and float(exact) == pytest.approx(0.37, abs=0.005)
    says("prec-06", "stops at 256 in BF16 and at 2048 in FP16")
    says("prec-07", "one by one end at 256")
    says("sparse-07", "a sum of ones stalls at 256", "一直加 1 到 256 就停住")
    for dtype, end in ((BF16, 256), (torch.float16, 2048)):
        total = torch.zeros((), dtype=dtype)
        for _ in range(2100):
            total = total + 1
        assert float(total) == end


def test_prec_07_the_softmax_of_pytorch_sums_in_fp32() -> None:
    says("prec-07", "sums in FP32 even for BF16 input")
    assert float(torch.zeros(4096, dtype=BF16).softmax(0).double().sum()) == 1.0


def test_prec_09_an_outlier_costs_fp8_no_resolution_up_to_thirty_thousand_times_the_rest() -> None:
    says("prec-09", "30,000 times below the maximum lose bits (E4M3)")
    ordinary, errors = drawn(0, 20_000), []
    for outlier in (5, 5000, 300_000):
        restored = (ordinary / outlier * 448).to(torch.float8_e4m3fn).float() * outlier / 448
        errors.append(float((restored - ordinary).norm() / ordinary.norm()))
    assert errors[1] == pytest.approx(errors[0], rel=0.05) and errors[2] > 4 * errors[0]


def test_prec_07_what_autocast_covers_and_lowers() -> None:
    says("prec-07", "Autocast covers the forward operators among them")
    for operator in "softmax.int log_softmax.int logsumexp nll_loss layer_norm rms_norm pow.Tensor_Scalar".split():
        assert torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{operator}", "AutocastCUDA")
    says("prec-07", "an `nn.Linear` router returns BF16 logits", "turns 257 into 256")
    with torch.autocast("cpu", dtype=BF16):
        assert nn.Linear(8, 4)(drawn(0, 2, 8)).dtype == BF16
        assert float(torch.tensor([[257.0]]) @ torch.ones(1, 1)) == 256


def test_prec_07_squares_beyond_fp16_silence_the_row() -> None:
    says("prec-07", "rsqrt gives 0, and the whole row becomes 0")
    x = torch.full((4,), 256.0, dtype=torch.float16)
    assert (x * torch.rsqrt(x.pow(2).mean() + 1e-6)).tolist() == [0.0] * 4


def test_prec_08_the_defaults_of_the_scaler() -> None:
    says("prec-08", "PyTorch starts at 2¹⁶ with N = 2000")
    scaler = torch.amp.GradScaler("cpu")
    assert scaler.get_scale() == 2**16 and scaler.get_growth_interval() == 2000
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor()) == (2.0, 0.5)


def test_prec_12_clipping_gaussians() -> None:
    says("prec-12", "every clip from 0.4 to 0.9 of absmax has a larger RMSE than none")
    says("prec-12", "lowers the RMSE from about 0.16 to 0.12")

    def error(x: Tensor, share: float, levels: int) -> float:
        step = share * x.abs().max() / levels
        return float(((x / step).round().clamp(-levels, levels) * step - x).square().mean().sqrt())

    for seed in range(4):
        x = drawn(seed, 4096)
        assert min(error(x, share / 20, 127) for share in range(8, 19)) > error(x, 1, 127)
        assert error(x, 1, 7) == pytest.approx(0.156, abs=0.02) and error(x, 0.65, 7) == pytest.approx(0.12, abs=0.01)


LOWER = -1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0
LEVELS = torch.tensor((*LOWER, 0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.7230, 1.0))


def nf4(x: Tensor) -> tuple[Tensor, Tensor]:
    largest = x.abs().amax(1, keepdim=True)
    codes = torch.bucketize(x / largest, (LEVELS[1:] + LEVELS[:-1]) / 2)
    return LEVELS[codes] * largest, codes


def test_prec_16_the_error_and_the_use_of_nf4s_codes() -> None:
    says("prec-16", "the RMSE is 0.081, 0.092 and 0.099")
    for block, stated in ((16, 0.081), (64, 0.092), (256, 0.099)):
        x = drawn(0, 2**18 // block, block)
        assert float((nf4(x)[0] - x).square().mean().sqrt()) == pytest.approx(stated, abs=0.001)
    says("prec-16", "from 1.7 % at the ends to 9.2 % beside zero, an entropy of 3.88 of 4 bits")
    share = torch.bincount(nf4(drawn(0, 4096, 64))[1].flatten(), minlength=16) / 2**18
    assert float(share.min()) == pytest.approx(0.017, abs=0.002)
    assert float(share.max()) == pytest.approx(0.092, abs=0.002)
    assert float(-(share * share.log2()).sum()) == pytest.approx(3.884, abs=0.005)
    says("prec-16", "use three or four of the 16 codes, 60 % of them the zero")
    x = drawn(0, 1000, 64)
    x[:, 0] = 20
    back, codes = (part[:, 1:] for part in nf4(x))
    used = [len(set(row)) for row in codes.tolist()]
    assert sum(count in (3, 4) for count in used) > 0.9 * len(used)
    assert float((codes == 7).float().mean()) == pytest.approx(0.6, abs=0.02)
    assert float((back - x[:, 1:]).square().mean().sqrt()) == pytest.approx(0.49, abs=0.01)


def pack(q: Tensor) -> Tensor:
    low, high = q[0::2], q[1::2]
    return (high << 4) | low


def unpack(p: Tensor) -> Tensor:
    return torch.stack(((p << 4) >> 4, p >> 4), dim=-1).flatten()


def test_prec_21_what_the_sign_extension_damages() -> None:
    says("prec-21", "120 of the 256 pairs", "(1, 2, 3) comes back as (1, 2, 3, 2)")
    pairs = torch.cartesian_prod(*[torch.arange(-8, 8, dtype=torch.int8)] * 2)
    assert int((unpack(pack(pairs.flatten())).view(-1, 2) != pairs).any(1).sum()) == 120
    assert unpack(pack(torch.tensor([-3, 5], dtype=torch.int8))).tolist() == [-3, -1]
    assert unpack(pack(torch.tensor([1, 2, 3], dtype=torch.int8))).tolist() == [1, 2, 3, 2]
    with pytest.raises(RuntimeError):
        pack(torch.arange(5, dtype=torch.int8))
    says("prec-21", "`lo, hi = q[0::2] & 0xF, q[1::2]`")
    low, high = pairs.flatten()[0::2] & 0xF, pairs.flatten()[1::2]
    assert torch.equal(unpack((high << 4) | low).view(-1, 2), pairs)


def test_prec_23_a_rotation_cancels_in_the_weight_gradient() -> None:
    says("prec-23", "$(HX)^\\\\top(HG)=X^\\\\top H^\\\\top HG=X^\\\\top G$")
    rotation, _ = torch.linalg.qr(drawn(0, 16, 16).double())
    x, g = drawn(1, 16, 8).double(), drawn(2, 16, 4).double()
    torch.testing.assert_close((rotation @ x).mT @ (rotation @ g), x.mT @ g)
