"""Several rows in each program, in one tile that is read by the strides of x."""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    x_ptr, weight_ptr, bias_ptr, y_ptr, rows, D, eps, of_row, of_column, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (column < D)[None, :]
    x = tl.load(x_ptr + row[:, None] * of_row + column[None, :] * of_column, mask=inside, other=0.0).to(tl.float32)
    x -= (tl.sum(x, 1) / D)[:, None]
    x = tl.where(inside, x, 0.0)
    x *= tl.rsqrt(tl.sum(x * x, 1) / D + eps)[:, None]
    weight = tl.load(weight_ptr + column, mask=column < D, other=0.0).to(tl.float32)
    bias = tl.load(bias_ptr + column, mask=column < D, other=0.0).to(tl.float32)
    tl.store(y_ptr + row[:, None] * D + column[None, :], x * weight[None, :] + bias[None, :], mask=inside)


def layer_norm(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    table = x.reshape(-1, D)
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    tile_kernel[(triton.cdiv(len(table), 4),)](
        table, weight.contiguous(), bias.contiguous(), y, len(table), D, eps, *table.stride(),
        ROWS=4, BLOCK=triton.next_power_of_2(D),
    )  # fmt: skip
    return y
