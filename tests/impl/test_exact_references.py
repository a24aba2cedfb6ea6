"""Check exact or random references: rounding against torch, laws of BPE, the marginal of speculative draws."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from .conftest import IMPL, load

rounding = load(IMPL / "precision/bf16-round/reference.py")
bpe = load(IMPL / "embeddings/bpe-train-encode/reference.py")
spec_step = load(IMPL / "decoding/speculative-sampling/reference.py").spec_step
LoRALinear = load(IMPL / "peft/lora/reference.py").LoRALinear

PINNED = settings(deadline=None, derandomize=True, database=None, max_examples=60)
LOW_HALVES = (0x0000, 0x0001, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF)


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(((a.view(torch.int32) == b.view(torch.int32)) | (a.isnan() & b.isnan())).all())


def test_rounding_is_torchs_cast_on_every_upper_half() -> None:
    for low in LOW_HALVES:
        x = ((torch.arange(-(2**15), 2**15) << 16) + low).to(torch.int32).view(torch.float32)
        assert same_bits(rounding.round_to_bf16(x), x.to(torch.bfloat16).float())
        assert same_bits(rounding.round_to_fp16(x), x.to(torch.float16).float())


@PINNED
@given(st.text("abc", max_size=40), st.binary(max_size=30), st.integers(0, 12))
def test_bpe_brings_any_bytes_back_and_equals_merging_rank_by_rank(text: str, data: bytes, count: int) -> None:
    merges = bpe.bpe_train(text.encode(), count)
    for given_bytes in (data, text.encode()):
        ids = bpe.bpe_encode(given_bytes, merges)
        assert bpe.bpe_decode(ids, merges) == given_bytes
        step_by_step = list(given_bytes)
        for rank, pair in enumerate(merges):
            step_by_step = bpe.merged(step_by_step, pair, 256 + rank)
        assert ids == step_by_step


def test_encoding_the_training_text_replays_training() -> None:
    assert bpe.bpe_train(b"aaab", 9) == [(97, 97), (97, 98), (256, 257)]
    assert bpe.bpe_encode(b"aaab", [(97, 97), (97, 98), (256, 257)]) == [258]


def test_the_first_token_of_speculative_sampling_is_exactly_the_targets() -> None:
    generator = torch.Generator().manual_seed(0)
    p, q = torch.tensor([0.5, 0.3, 0.2, 0.0]), torch.tensor([0.1, 0.2, 0.3, 0.4])
    draws = 20_000
    drafted = torch.multinomial(q, draws, replacement=True, generator=generator)
    counts = torch.zeros(4)
    for token in drafted:
        accepted, following = spec_step(torch.stack([p, p]), q[None], token[None], generator)
        counts[token if accepted else following] += 1
    assert counts[3] == 0
    assert bool(((counts / draws - p).abs() < 5 * (p * (1 - p) / draws).sqrt() + 1e-9).all())


def test_lora_merged_is_lora_unmerged_and_unmerging_restores_the_base() -> None:
    torch.manual_seed(1)
    base = nn.Linear(7, 5, dtype=torch.float64)
    before, x = base.weight.detach().clone(), torch.randn(3, 7, dtype=torch.float64)
    lora = LoRALinear(base, 3, 6.0)
    assert torch.equal(lora(x), base(x))
    with torch.no_grad():
        lora.lora_B.normal_()
    y = lora(x)
    lora.merge()
    assert torch.allclose(lora(x), y, rtol=0, atol=1e-12)
    with torch.no_grad():
        lora.lora_A.normal_()
    lora.unmerge()
    assert torch.allclose(base.weight, before, rtol=0, atol=1e-12)
    assert sum(p.numel() for p in lora.parameters() if p.requires_grad) == 3 * (7 + 5)
