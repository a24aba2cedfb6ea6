"""Matrices of prescribed spectra and any shape, and steps in sequence on one state or two."""

from __future__ import annotations

import torch

AXES = {"G": "... O I", "W": "... O I", "g": "... O I", "return": "O I"}  # others are refused
SIZES = {"O": (1, 5, 40), "I": (1, 6, 40), "steps": (1, 4)}
GRADIENTS = False
WITHOUT_GRAPH = ("W", "g")


def matrix(make, O, I, lowest=0.05, scale=1.0):
    """Singular values between `lowest` and 1 of the largest: far smaller ones would only show rounding."""
    n = min(O, I)
    left, right = (torch.linalg.qr(make.normal(size, n, grad=False).double())[0] for size in (O, I))
    values = lowest + (1 - lowest) * torch.rand(n, generator=make.random, dtype=torch.float64)
    return make.keep(scale * (left * values) @ right.T, grad=True)


def case(make):
    """The polynomial by itself, then one parameter, or two in turns."""
    O, I = make.sizes("O", "I")
    scale = make.pick([1.0, 1e3, 1e-3])
    make.call("newton_schulz5", matrix(make, O, I, scale=scale), steps=make.pick([5, 1, 0, 3, 10]))
    states = [make.shared({}) for _ in range(make.pick([1, 2]))]
    hyper = {"momentum": make.pick([0.95, 0.5, 0.0, 0.9]), "nesterov": make.pick([True, False])}
    weights = [matrix(make, O, I) for _ in states]
    for _ in range(make.size("steps")):
        for k, state in enumerate(states):
            lr = make.pick([0.1, 0.02, 1.0, 0.0])
            new = make.call("muon_step", weights[k], matrix(make, O, I, scale=scale), state, lr, **hyper)
            if make.dtype.itemsize > 2:  # rounded twice to 16 bits, it would have no single right value
                weights[k] = new


def edge_prescribed_spectra(make):
    """singular values from 1 down to 0.01: each is lifted by itself, the vectors stay

    奇异值从 1 到 0.01：各自独立地抬高，奇异向量不变
    """
    for O, I in ((6, 6), (9, 4), (4, 9)):
        make.call("newton_schulz5", matrix(make, O, I, lowest=0.01))
    make.call("newton_schulz5", make.keep(torch.diag(torch.tensor([1.0, 0.3, 0.1, 0.02]))))


def edge_zeros(make):
    """a matrix of zeros stays zero

    全零矩阵还是全零
    """
    make.call("newton_schulz5", make.keep(torch.zeros(3, 2)))
    make.call("muon_step", make.normal(2, 3), make.keep(torch.zeros(2, 3)), make.shared({}), 0.1)


def edge_tall_and_wide(make):
    """√max(1, O/I): a factor for tall matrices alone

    √max(1, O/I)：只有高矩阵才放大
    """
    for O, I in ((12, 3), (3, 12), (1, 5), (5, 1), (4, 4)):
        make.call("muon_step", matrix(make, O, I), matrix(make, O, I), make.shared({}), 0.1)


def edge_no_matrix(make):
    """a vector or a stack of matrices: ValueError from both

    向量或一叠矩阵：两个函数都抛 ValueError
    """
    for shape in ((4,), (2, 3, 3), (1, 1, 2, 2)):
        make.raises(ValueError, "newton_schulz5", make.normal(*shape))
        make.raises(ValueError, "muon_step", make.normal(*shape), make.normal(*shape), make.shared({}), 0.1)


def edge_gradient_turns_round(make):
    """a gradient that turns round: momentum decides, before the orthogonalisation

    梯度反转：由动量决定方向，在正交化之前
    """
    for nesterov in (True, False):
        W, g, state = matrix(make, 4, 3), matrix(make, 4, 3).detach(), make.shared({})
        for size in (1.0, 1.0, -1.2, 0.3):
            W = make.call("muon_step", W, make.keep(size * g), state, 0.1, 0.9, nesterov)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": record,
        "sizes": (64, 128, 256),
        "bound": lambda size: 8 * size,
        "growth_at_most": 2.0,
        "real": {"size": 65_536, "en": "a 65,536 × 8 matrix", "zh": "65536 × 8 的矩阵"},
        "says": {
            "en": "the Gram matrix has the long side squared: turn the matrix on its other side",
            "zh": "Gram 矩阵的大小是长边的平方：该把矩阵转过来",
        },
    }
    for record in (
        lambda make, size: make.call("newton_schulz5", make.normal(size, 8)),
        lambda make, size: make.call("newton_schulz5", make.normal(8, size)),
    )
]
