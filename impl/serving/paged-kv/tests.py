"""A memory written as the allocator says, which every sequence must read back; and attention without pages as the oracle."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st


class Memory:
    """Write each sequence's tokens where the allocator says, and know how many blocks are needed."""

    def __init__(self, BlockAllocator, n_blocks, block):
        self.allocator, self.n_blocks, self.block = BlockAllocator(n_blocks, block), n_blocks, block
        self.slots, self.tokens, self.count = {}, {}, 0

    def append(self, seq):
        tokens = self.tokens.get(seq, [])
        used = {b for one in self.tokens for b in self.allocator.table(one)}
        room = len(tokens) % self.block > 0
        last = self.allocator.table(seq)[-1] if tokens else None
        shared = room and sum(last in self.allocator.table(one) for one in self.tokens) > 1
        if (not room or shared) and len(used) == self.n_blocks:
            with pytest.raises(MemoryError):
                self.allocator.append(seq)
            return
        b, offset, copy = self.allocator.append(seq)
        assert offset == len(tokens) % self.block
        if shared:
            old, new = copy
            assert old == last and new == b
            for i in range(self.block):
                self.slots[new, i] = self.slots.get((old, i))
        else:
            assert copy is None
        assert (b == last) if room and not shared else (b not in used and 0 <= b < self.n_blocks)
        self.count += 1
        self.slots[b, offset] = self.count
        self.tokens[seq] = [*tokens, self.count]

    def fork(self, src, dst):
        self.allocator.fork(src, dst)
        assert self.allocator.table(dst) == self.allocator.table(src)
        self.tokens[dst] = list(self.tokens[src])

    def free(self, seq):
        self.allocator.free(seq)
        del self.tokens[seq]

    def check(self):
        for seq, tokens in self.tokens.items():
            table = self.allocator.table(seq)
            assert len(table) == math.ceil(len(tokens) / self.block)
            assert [self.slots[table[i // self.block], i % self.block] for i in range(len(tokens))] == tokens


def attended(q, k_pool, v_pool, block_table, lengths):
    """Gather each sequence's keys and values token by token and attend in float64."""
    (B, H, d), block, G = q.shape, k_pool.shape[1], k_pool.shape[2]
    out = torch.zeros(B, H, d, dtype=torch.float64)
    for b, n in enumerate(lengths.tolist()):
        for h in range(H if n else 0):
            places = [(int(block_table[b, i // block]), i % block, h // (H // G)) for i in range(n)]
            k, v = (torch.stack([pool[place].double() for place in places]) for pool in (k_pool, v_pool))
            out[b, h] = F.scaled_dot_product_attention(q[b, h : h + 1].double(), k, v)[0]
    return out


def inputs(lengths, H=4, G=2, block=4, d=8, dtype=torch.float32):
    """Scatter the sequences over a pool; blocks of no sequence, and slots behind a length, are NaN."""
    M = max(math.ceil(n / block) for n in lengths) + 1
    order = torch.randperm(len(lengths) * M + 2)
    block_table = order[: len(lengths) * M].reshape(len(lengths), M)
    k_pool, v_pool = (torch.full((len(order), block, G, d), math.nan, dtype=dtype) for _ in range(2))
    for row, n in zip(block_table, lengths, strict=True):
        for i in range(n):
            k_pool[row[i // block], i % block] = torch.randn(G, d).to(dtype)
            v_pool[row[i // block], i % block] = torch.randn(G, d).to(dtype)
        row[math.ceil(n / block) :] = 10**9  # arbitrary, so no place in the pool
    return torch.randn(len(lengths), H, d).to(dtype), k_pool, v_pool, block_table, torch.tensor(lengths)


@given(st.integers(1, 9), st.integers(1, 3), st.integers(0, 1000))
def test_every_sequence_reads_back_what_it_wrote(BlockAllocator, n_blocks, block, seed):
    # Long random histories: an error in counting owners shows many operations later.
    memory = Memory(BlockAllocator, n_blocks, block)
    for choice, seq, dst in torch.randint(0, 4, (100, 3), generator=torch.Generator().manual_seed(seed)).tolist():
        if choice < 2:
            memory.append(seq)
        elif choice == 2 and seq in memory.tokens and dst not in memory.tokens:
            memory.fork(seq, dst)
        elif choice == 3 and seq in memory.tokens:
            memory.free(seq)
        memory.check()


def test_all_blocks_can_be_used_again(BlockAllocator):
    memory = Memory(BlockAllocator, 3, 2)
    for _ in range(3):
        for _ in range(7):  # one more than there is room for
            memory.append(0)
        memory.check()
        memory.fork(0, 1)
        memory.free(0)
        memory.check()
        memory.free(1)


def test_unknown_sequences_are_refused(BlockAllocator):
    allocator = BlockAllocator(2, 2)
    for call in (allocator.table, allocator.free, lambda seq: allocator.fork(seq, 8)):
        with pytest.raises(KeyError):
            call(7)
    with pytest.raises(KeyError):
        allocator.table(8)  # the fork that failed left nothing
    allocator.append(7)
    allocator.free(7)
    with pytest.raises(KeyError):
        allocator.table(7)


def test_an_append_that_fails_changes_nothing(BlockAllocator):
    allocator = BlockAllocator(1, 2)
    allocator.append(0)
    allocator.fork(0, 1)
    for seq in (0, 1, 2):  # a copy, a copy, a new sequence
        with pytest.raises(MemoryError):
            allocator.append(seq)
    with pytest.raises(KeyError):
        allocator.table(2)
    allocator.free(1)
    assert allocator.append(0) == (allocator.table(0)[0], 1, None)


def test_the_table_belongs_to_the_caller(BlockAllocator):
    allocator = BlockAllocator(4, 1)
    b, _, _ = allocator.append(0)
    allocator.fork(0, 1)
    allocator.table(0).append(99)
    allocator.table(1).clear()
    allocator.append(1)
    assert allocator.table(0) == [b] and allocator.table(1)[0] == b and len(allocator.table(1)) == 2


def test_attention_reads_its_own_slots_alone(paged_attention):
    for lengths in [[5], [4, 8, 1], [7, 0, 12], [0, 0], [130, 3]]:
        for H, G in [(4, 4), (4, 2), (6, 1)]:
            arguments = inputs(lengths, H, G)
            exact = attended(*arguments)
            torch.testing.assert_close(paged_attention(*arguments), exact.float(), rtol=1e-4, atol=1e-4)


def test_sequences_may_share_blocks(paged_attention):
    q, k_pool, v_pool, block_table, lengths = inputs([8, 8])
    block_table[1] = block_table[0]
    for n in (8, 5):
        lengths[1] = n
        exact = attended(q, k_pool, v_pool, block_table, lengths)
        torch.testing.assert_close(
            paged_attention(q, k_pool, v_pool, block_table, lengths), exact.float(), rtol=1e-4, atol=1e-4
        )


def test_large_scores_are_stable(paged_attention):
    q, *others = inputs([9, 2])
    exact = attended(300 * q, *others)
    torch.testing.assert_close(paged_attention(300 * q, *others), exact.float(), rtol=1e-3, atol=1e-3)


def test_16_bits_are_computed_wider_and_rounded_once(paged_attention):
    for dtype in (torch.float16, torch.bfloat16):
        arguments = inputs([40, 3], dtype=dtype)
        actual = paged_attention(*arguments)
        assert actual.dtype == dtype
        torch.testing.assert_close(actual.double(), attended(*arguments), rtol=0.52 * torch.finfo(dtype).eps, atol=1e-5)


def test_strided_arguments_stay_as_they_are(paged_attention):
    q, k_pool, v_pool, block_table, lengths = inputs([5, 6])
    arguments = (
        q.transpose(0, 1).contiguous().transpose(0, 1),
        k_pool.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3),
        v_pool.repeat_interleave(2, dim=3)[..., ::2],
        block_table.T.contiguous().T,
        lengths.repeat_interleave(2)[::2],
    )
    before = [x.clone() for x in arguments]
    exact = attended(*arguments)
    result = paged_attention(*arguments)
    torch.testing.assert_close(result, exact.float(), rtol=1e-4, atol=1e-4)
    result.zero_()
    torch.testing.assert_close(list(arguments), before, rtol=0, atol=0, equal_nan=True)
