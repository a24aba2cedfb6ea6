"""Weights and correlated inputs; every column is judged against the returned columns before it."""

from __future__ import annotations

import torch

AXES = {"W": "O I", "X": "N I", "return": "O I"}
SIZES = {"O": (1, 4, 60), "groups": (1, 3), "size": (1, 4), "N": (1, 8, 150)}
DERIVED = {"I": "groups * size"}
GRADIENTS = False
HARDENED = {"edge_float16_inputs"}
WITHOUT_MOTIFS = {"same"}  # W and X are different things
SIXTEEN_BITS = "technique"  # `hardened` says it: the result alone has 16 bits
_NEAR = 0.02  # of a step: what float32 may miss a corrected weight by


def case(make):
    W = make.argument("W", scale=make.pick([1.0, 0.02, 30.0]), grad=False)
    X = correlated(make, *make.sizes("N", "I"))
    damp = make.pick([0.01, 0.1, 0.5])
    quantised(make, W, X * make.pick([1.0, 30.0, 0.1]), make.pick([4, 2, 3]), make.size("size"), damp=damp)


def correlated(make, N, I):
    """Inputs that share a direction, as a layer's do."""
    return (make.normal(N, I, grad=False) + 1.5 * make.normal(N, 1, grad=False)).detach()


def quantised(make, W, X, bits, group, **damp):
    W, X = (make.keep(t, dtype="fixed" if t.dtype == torch.float16 else "follow") for t in (W, X))
    make.judge(compensated(W.double(), X.double(), bits, group, **damp), make.call("gptq", W, X, bits, group, **damp))


def compensated(W, X, bits, group, damp=0.01):
    """With scales of the corrected weights throughout, or of the original ones throughout."""
    H = X.T @ X
    H = H + damp * H.diagonal().mean() * torch.eye(len(H), dtype=H.dtype)

    def holds(got):
        found = [columns(got, W, H, 2 ** (bits - 1) - 1, group, static) for static in (False, True)]
        return found[0] and found[1] and found[0]

    return holds


def columns(got, W, H, top, group, static):
    """Return the first column that is not the nearest code of its value as corrected for the errors before it."""
    fixed = torch.zeros_like(W)
    for j in range(W.shape[1]):
        now = W.clone()
        if j:
            done = fixed[:, :j] - W[:, :j]
            now[:, j:] -= torch.linalg.solve(H[j:, j:], H[j:, :j] @ done.T).T
        if j % group == 0:
            scale = (W if static else now)[:, j : j + group].abs().amax(1) / top
            scale = torch.where(scale == 0, 1.0, scale)
        codes = (got[:, j].double() / scale).round()
        fixed[:, j] = codes * scale
        due = (now[:, j] / scale).clamp(-top, top)
        rough = 2 * torch.finfo(got.dtype).eps * fixed[:, j].abs() + 1e-4 * scale
        wrong = (got[:, j].double() - fixed[:, j]).abs() > rough
        wrong |= (codes - due).abs() > (due.round() - due).abs() + _NEAR
        if not bool((wrong | ~got[:, j].isfinite()).logical_not().all()):
            row = int((wrong | ~got[:, j].isfinite()).nonzero()[0])
            mine, other = float(got[row, j] / scale[row]), float(due[row])
            return (
                f"[{row}, {j}] is {mine:.4g} steps of its group; corrected by the errors before it, the weight is {other:.4g} steps",
                f"[{row}, {j}] 是 {mine:.4g} 步；前面各列的误差补偿之后，该权重是 {other:.4g} 步",
            )
    return None


def edge_orthonormal_inputs(make):
    """inputs with orthonormal columns: nothing to compensate, plain rounding

    输入的列两两正交：没有可补偿的，就是就近舍入
    """
    X = torch.linalg.qr(make.normal(9, 6, grad=False).double())[0]
    quantised(make, make.normal(3, 6, grad=False), X, 3, 3)


def edge_fewer_inputs_than_columns(make):
    """one input, two inputs, and columns that are always 0: damping keeps H invertible

    只有一两个输入，以及恒为 0 的列：靠阻尼保证 H 可逆
    """
    for N in (1, 2):
        quantised(make, make.normal(3, 8, grad=False), correlated(make, N, 8), 4, 4)
    X = correlated(make, 12, 8)
    X[:, [0, 5]] = 0.0
    quantised(make, make.normal(3, 8, grad=False), X, 3, 8)


def edge_groups(make):
    """groups of zeros, of equal numbers, with an outlier; one group, and one for each column

    全零的组、全相等的组、带离群值的组；整行一组，每列一组
    """
    W = make.normal(4, 12, grad=False)
    W[0, :4], W[1, 4:8], W[2, 9], W[3] = 0.0, 0.7, -50.0, 0.0
    for group in (4, 12, 1, 6):
        quantised(make, W, correlated(make, 20, 12), 4, group)


def edge_float16_inputs(make):
    """float16 inputs of 100, whose squares add up to more than float16 holds

    float16 的输入约 100，平方和超出 float16 的范围
    """
    W, X = make.normal(4, 8, grad=False), 100.0 * correlated(make, 30, 8)
    quantised(make, W.half(), X.half(), 4, 4)


def edge_strongly_correlated(make):
    """inputs that are nearly parallel: corrected weights exceed the group's maximum and are clamped

    输入几乎在一个方向上：补偿后的值超出组的最大值，要截断
    """
    X = make.normal(30, 1, grad=False) + 0.2 * make.normal(30, 8, grad=False)
    for bits in (2, 3, 8):
        quantised(make, make.normal(5, 8, grad=False), X, bits, 4)
        quantised(make, make.normal(5, 8, grad=False), 100.0 * X, bits, 8, damp=0.3)
