"""One product for Q, K and V, heads folded into the batch, an additive mask."""

import torch
import torch.nn.functional as F


def block(x, params, n_heads, norm, causal):
    if x.dtype.itemsize == 2:
        wide = block(x.float(), {k: v.float() for k, v in params.items()}, n_heads, norm, causal)
        return wide.to(x.dtype)
    B, T, D = x.shape
    d = D // n_heads

    def ln(z, n):
        return F.layer_norm(z, [D], params[f"ln{n}_g"], params[f"ln{n}_b"])

    def attn(z):
        qkv = z @ torch.cat([params["wq"], params["wk"], params["wv"]], dim=1)
        q, k, v = qkv.reshape(B, T, 3, n_heads, d).permute(2, 0, 3, 1, 4).reshape(3, B * n_heads, T, d)
        bias = torch.zeros(T, T, dtype=x.dtype, device=x.device)
        if causal:
            bias = bias.masked_fill(torch.ones_like(bias).triu(1) > 0, float("-inf"))
        a = torch.softmax(torch.baddbmm(bias, q * d**-0.5, k.mT), -1)
        return torch.bmm(a, v).reshape(B, n_heads, T, d).transpose(1, 2).reshape(B, T, D) @ params["wo"]

    def mlp(z):
        return torch.addmm(params["b2"], F.gelu(z.reshape(B * T, D) @ params["w1"] + params["b1"]), params["w2"]).view(
            B, T, D
        )

    if norm == "post":
        middle = ln(x + attn(x), 1)
        return ln(middle + mlp(middle), 2)
    middle = x + attn(ln(x, 1))
    return middle + mlp(ln(middle, 2))
