"""paged-kv: run the allocator beside lists of tokens; the pool must contain every sequence's tokens."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
import yaml
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ..conftest import IMPL, load

module = load(IMPL / "serving/paged-kv/reference.py")
inputs = load(IMPL / "serving/paged-kv/inputs.py")
SEQ = st.integers(0, 4)


class Pages(RuleBasedStateMachine):
    """Write tokens to the slots of `append`, and copy blocks when told to; sequences must read their tokens back."""

    @initialize(n_blocks=st.integers(1, 6), block=st.integers(1, 3))
    def begin(self, n_blocks: int, block: int) -> None:
        self.allocator = module.BlockAllocator(n_blocks, block)
        self.pool: dict[int, list[Any]] = {b: [None] * block for b in range(n_blocks)}
        self.texts: dict[int, list[int]] = {}
        self.block, self.token = block, 0

    def used(self) -> set[int]:
        return {b for seq in self.texts for b in self.allocator.table(seq)}

    @rule(seq=SEQ)
    def append(self, seq: int) -> None:
        before = self.used()
        try:
            page, offset, copy = self.allocator.append(seq)
        except MemoryError:
            assert len(before) == len(self.pool)
            if seq not in self.texts:
                with pytest.raises(KeyError):
                    self.allocator.table(seq)
            return
        self.token += 1
        if copy is not None:
            assert copy[1] == page and page not in before
            self.pool[page] = list(self.pool[copy[0]])
        self.pool[page][offset] = self.token
        self.texts[seq] = [*self.texts.get(seq, []), self.token]

    @rule(src=SEQ, dst=SEQ)
    def fork(self, src: int, dst: int) -> None:
        if src not in self.texts:
            with pytest.raises(KeyError):
                self.allocator.fork(src, dst)
        elif dst not in self.texts:
            before = self.used()
            self.allocator.fork(src, dst)
            self.texts[dst] = self.texts[src]
            assert self.used() == before

    @rule(seq=SEQ)
    def free(self, seq: int) -> None:
        if seq in self.texts:
            self.allocator.free(seq)
            del self.texts[seq]
        with pytest.raises(KeyError):
            self.allocator.free(seq)

    @invariant()
    def each_sequence_reads_its_own_tokens(self) -> None:
        for seq, text in getattr(self, "texts", {}).items():
            table = self.allocator.table(seq)
            assert len(table) == -(-len(text) // self.block)
            assert [token for page in table for token in self.pool[page]][: len(text)] == text


Pages.TestCase.settings = settings(
    deadline=None, derandomize=True, database=None, max_examples=40, stateful_step_count=30
)
TestPages = Pages.TestCase


@pytest.mark.parametrize("R", [1, 3])
@pytest.mark.parametrize("block", [1, 4])
def test_attention_over_pages_is_torchs_over_the_tokens_in_a_row(block: int, R: int) -> None:
    q, pools = torch.randn(3, 2 * R, 5).double(), torch.randn(2, 9, block, 2, 5).double()
    table, lengths = torch.tensor([[7, 2, 5], [1, 0, -1], [-1, -1, -1]]), torch.tensor([3 * block, block + 1, 0])
    got = module.paged_attention(q, *pools, table, lengths)
    for b, n in enumerate(lengths.tolist()[:2]):
        rows = (pool[table[b]].flatten(0, 1)[:n].transpose(0, 1).repeat_interleave(R, 0) for pool in pools)
        assert torch.allclose(
            got[b], F.scaled_dot_product_attention(q[b, :, None], *rows)[:, 0], rtol=1e-12, atol=1e-12
        )
    assert not got[2].any()


def test_the_first_sentence_of_the_statement_says_what_may_not_be_gathered() -> None:
    statement = yaml.safe_load((IMPL / "serving/paged-kv/challenge.yaml").read_text(encoding="utf-8"))["statement"]
    for text, words in ((statement["en"], "no tensor holds two sequences' keys"), (statement["zh"], "多个序列的 K/V")):
        first = text.split("```")[0]
        assert words in first and "k_pool[block_table]" in first


APPENDED = "append", (0,)


@pytest.mark.parametrize(
    ("calls", "results", "said"),
    [
        (
            [APPENDED, ("fork", (0, 1)), APPENDED],
            [(2, 0, None), None, (2, 1, None)],
            "call 4, append(0), returned (2, 1, None): block 2 is also in the table of 1: append must copy it first; "
            "expected (new, 1, (2, new)), new not in [2]",
        ),
        (
            [APPENDED],
            [(7, 0, None)],
            "call 2, append(0), returned (7, 0, None): sequence 0 has no block with room: append must take a new one; "
            "expected (new, 0, None), new not in []",
        ),
        (
            [APPENDED, APPENDED],
            [(2, 0, None), (3, 0, None)],
            "call 3, append(0), returned (3, 0, None): block 2 has room and only sequence 0 uses it; "
            "expected (2, 1, None)",
        ),
        ([APPENDED, ("table", (0,))], [(2, 0, None), [2, 0]], "call 3, table(0), returned [2, 0]: expected [2]"),
    ],
)
def test_a_wrong_result_is_told_with_the_rule_that_it_breaks(calls: Any, results: Any, said: str) -> None:
    found = inputs.wrong(4, 2, [(number, *call) for number, call in enumerate(calls, 2)], results)
    assert found is not None and found[0] == said and "应返回" in found[1]
