"""Numbers counted by hand, and laws that hold for any model."""

from hypothesis import given
from hypothesis import strategies as st

ANY = st.integers(1, 10**6)
CFG = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 200),
        "kind": st.sampled_from(["mha", "gqa", "mqa", "mla", "swa"]),
        "n_heads": ANY,
        "n_kv": ANY,
        "head_dim": ANY,
        "r_kv": ANY,
        "d_rope": ANY,
        "window": ANY,
    }
)
NEEDED = {
    "mha": {"n_heads", "head_dim"},
    "gqa": {"n_kv", "head_dim"},
    "mqa": {"head_dim"},
    "mla": {"r_kv", "d_rope"},
    "swa": {"n_kv", "head_dim", "window"},
}


def test_models_that_one_knows(kv_bytes):
    llama_2_7b = {"layers": 32, "kind": "mha", "n_heads": 32, "head_dim": 128}
    assert kv_bytes(llama_2_7b, 4096, 1, 2) == 2 * 2**30
    llama_3_8b = {"layers": 32, "kind": "gqa", "n_heads": 32, "n_kv": 8, "head_dim": 128}
    assert kv_bytes(llama_3_8b, 8192, 1, 2) == 2**30
    deepseek_v3 = {"layers": 61, "kind": "mla", "n_heads": 128, "r_kv": 512, "d_rope": 64}
    assert kv_bytes(deepseek_v3, 1, 1, 2) == 61 * 576 * 2


def test_each_kind_by_hand(kv_bytes):
    numbers = {"n_heads": 7, "n_kv": 5, "head_dim": 11, "r_kv": 13, "d_rope": 17, "window": 3}
    kept = {
        "mha": 2 * 7 * 11 * 19,
        "gqa": 2 * 5 * 11 * 19,
        "mqa": 2 * 11 * 19,
        "mla": (13 + 17) * 19,
        "swa": 2 * 5 * 11 * 3,  # 3 of 19 tokens
    }
    for kind, count in kept.items():
        assert kv_bytes({"layers": 2, "kind": kind, **numbers}, 19, 23, 4) == 2 * 23 * 4 * count, kind


def test_a_window_keeps_no_more_tokens_than_there_are(kv_bytes):
    swa = {"layers": 2, "kind": "swa", "n_kv": 2, "head_dim": 4, "window": 8}
    gqa = {**swa, "kind": "gqa"}
    for T in (1, 7, 8):
        assert kv_bytes(swa, T, 3, 2) == kv_bytes(gqa, T, 3, 2)
    for T in (9, 10**6):
        assert kv_bytes(swa, T, 3, 2) == kv_bytes(gqa, 8, 3, 2)


@given(CFG, ANY, st.integers(1, 100), st.sampled_from([1, 2, 4, 8]))
def test_a_cfg_with_the_needed_keys_alone_gives_the_same(kv_bytes, cfg, T, B, size):
    needed = {name: cfg[name] for name in NEEDED[cfg["kind"]] | {"layers", "kind"}}
    assert kv_bytes(needed, T, B, size) == kv_bytes(cfg, T, B, size)


@given(CFG, ANY, st.integers(1, 100), st.sampled_from([1, 2, 4, 8]))
def test_bytes_are_in_proportion_to_layers_sequences_and_width(kv_bytes, cfg, T, B, size):
    one = kv_bytes({**cfg, "layers": 1}, T, 1, 1)
    assert kv_bytes(cfg, T, B, size) == one * cfg["layers"] * B * size


@given(CFG, ANY)
def test_mqa_is_gqa_with_one_head_and_mha_with_all_of_them(kv_bytes, cfg, T):
    def size(**changes):
        return kv_bytes({**cfg, **changes}, T, 1, 2)

    assert size(kind="mqa") == size(kind="gqa", n_kv=1)
    assert size(kind="mha") == size(kind="gqa", n_kv=cfg["n_heads"])


@given(CFG)
def test_the_result_is_an_exact_int_and_cfg_stays(kv_bytes, cfg):
    before = dict(cfg)
    # Far beyond 2⁵³: a float on the way would lose the last digits.
    large = {**cfg, "kind": "mqa", "head_dim": 10**9 + 7}
    result = kv_bytes(large, 10**9 + 9, 10**3 + 9, 1)
    assert isinstance(result, int)
    assert result == cfg["layers"] * 2 * (10**9 + 7) * (10**9 + 9) * (10**3 + 9)
    assert isinstance(kv_bytes(cfg, 5, 1, 2), int) and cfg == before
