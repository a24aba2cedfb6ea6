"""A decoder that follows a script and records its calls: what it is fed, how often, and what comes back."""

import torch
from hypothesis import given
from hypothesis import strategies as st

V, BOS, EOS, PAD = 7, 1, 2, 0


class Scripted:
    """An encoder and a decoder that answer row by row from `script` (B, L), step by step."""

    def __init__(self, script):
        self.script, self.encoded, self.calls = torch.tensor(script), [], []
        self.memory, self.caches = ["memory"], []

    def encoder(self, src, src_mask):
        self.encoded.append((src, src_mask))
        return self.memory

    def decoder(self, ids, memory, src_mask, cache):
        step = len(self.calls)
        assert memory is self.memory
        assert cache is (self.caches[-1] if step else None)
        assert ids.dtype == torch.long and ids.shape == (len(self.script), 1)
        self.calls.append((ids.clone(), src_mask))
        self.caches.append({"step": step})
        logits = torch.full((len(self.script), 1, V), -1.0)
        logits.scatter_(2, self.script[:, step].reshape(-1, 1, 1), 3.0)
        return logits, self.caches[-1]


def expected(script, eos, pad, max_len):
    """Return the rows of the result that the script leads to."""
    rows, L = [], 0
    for tokens in script:
        end = tokens.index(eos) + 1 if eos in tokens[:max_len] else max_len
        rows.append(tokens[:end] + [pad] * (max_len - end))
        L = max(L, end)
    return [row[:L] for row in rows]


def check(greedy_translate, script, max_len, bos=BOS, eos=EOS, pad=PAD, src_mask=None):
    model, src = Scripted(script), torch.randint(0, V, (len(script), 3))
    result = greedy_translate(src, model.encoder, model.decoder, bos, eos, pad, max_len, src_mask)
    rows = expected(script, eos, pad, max_len)
    assert result.dtype == torch.long and result.tolist() == rows
    assert len(model.calls) == len(rows[0])  # one call a token, and none after the end
    fed = [[bos, *row[:-1]] for row in rows]
    assert [ids.flatten().tolist() for ids, _ in model.calls] == [list(step) for step in zip(*fed, strict=True)]
    assert len(model.encoded) == 1 and torch.equal(model.encoded[0][0], src)
    for mask in [model.encoded[0][1], *(mask for _, mask in model.calls)]:
        assert mask is None if src_mask is None else torch.equal(mask, src_mask)


def test_one_row_ends_with_eos(greedy_translate):
    check(greedy_translate, [[5, 4, EOS, 6, 6]], max_len=5)


def test_finished_rows_show_and_feed_pad_until_all_are_done(greedy_translate):
    check(greedy_translate, [[5, EOS, 6, 6, 6], [3, 4, 5, EOS, 6], [EOS, 6, EOS, 6, 6]], max_len=5)


def test_without_eos_the_result_has_max_len_tokens(greedy_translate):
    check(greedy_translate, [[5, 4, 3], [3, EOS, 5]], max_len=3)
    check(greedy_translate, [[5, 4, 3], [3, 3, 5]], max_len=1)


def test_eos_as_the_very_first_token(greedy_translate):
    check(greedy_translate, [[EOS, 5, 5]], max_len=3)


def test_pad_and_bos_are_ordinary_tokens_when_generated(greedy_translate):
    check(greedy_translate, [[PAD, BOS, 5, EOS], [BOS, PAD, PAD, 4]], max_len=4)


@given(
    st.lists(st.lists(st.integers(0, V - 1), min_size=8, max_size=8), min_size=1, max_size=4),
    st.integers(1, 8),
    st.tuples(*[st.integers(0, V - 1)] * 3),
)
def test_any_script_and_any_ids_which_may_be_equal(greedy_translate, script, max_len, special):
    check(greedy_translate, script, max_len, *special)


def test_the_mask_goes_to_encoder_and_decoder(greedy_translate):
    check(greedy_translate, [[5, 4, EOS], [5, EOS, 4]], 3, src_mask=torch.tensor([[True, True, False], [True] * 3]))


def test_rows_are_independent(greedy_translate):
    script = [[5, EOS, 6, 6], [3, 4, 5, EOS]]
    whole = Scripted(script)
    both = greedy_translate(torch.zeros(2, 3).long(), whole.encoder, whole.decoder, BOS, EOS, PAD, 4)
    for row, tokens in enumerate(script):
        model = Scripted([tokens])
        alone = greedy_translate(torch.zeros(1, 3).long(), model.encoder, model.decoder, BOS, EOS, PAD, 4)
        assert torch.equal(both[row, : alone.shape[1]], alone[0])


def test_the_lowest_id_wins_a_tie(greedy_translate):
    model = Scripted([[3, 3]])

    def decoder(ids, memory, src_mask, cache):
        model.decoder(ids, memory, src_mask, cache)
        return torch.tensor([[[0.0, 1.0, 0.0, 5.0, 2.0, 5.0, 5.0]]]), model.caches[-1]

    result = greedy_translate(torch.zeros(1, 1).long(), model.encoder, decoder, BOS, EOS, PAD, 2)
    assert result.tolist() == [[3, 3]]


def test_max_len_0_gives_no_token_and_calls_no_decoder(greedy_translate):
    model = Scripted([[5], [4]])
    result = greedy_translate(torch.zeros(2, 3).long(), model.encoder, model.decoder, BOS, EOS, PAD, 0)
    assert result.shape == (2, 0) and result.dtype == torch.long and not model.calls


def test_the_source_stays(greedy_translate):
    model, src = Scripted([[5, EOS]]), torch.tensor([[3, 4]])
    greedy_translate(src, model.encoder, model.decoder, BOS, EOS, PAD, 2).zero_()
    assert src.tolist() == [[3, 4]]
