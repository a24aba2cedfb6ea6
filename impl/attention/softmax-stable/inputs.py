"""Slices of every rank and every dimension, with −inf sprinkled in, up to |x| = 1e4."""

from __future__ import annotations

import torch

AXES = {"x": "... m n"}
SIZES = {"m": (1, 5), "n": (1, 7, 130)}
LEAD = (0, 2)
PROFILES = {"stable": ["ordinary", "float64"]}
_GONE = float("-inf")


def case(make):
    shape = make.shape("x")
    shape = make.pick([shape, shape, shape[-1:]])
    dim = make.pick([-1, *range(-len(shape), len(shape))])
    gone = make.pick(["nothing", "some", "a slice"])
    x = make.normal(*shape, scale=make.pick([1.0, 4.0]))
    if gone != "nothing":
        visible = make.mask(*shape, keep=0.6).movedim(-1, dim)  # a row that it hides now and then is a slice
        visible.movedim(dim, -1).reshape(-1, visible.shape[dim])
        x = x.movedim(-1, dim).masked_fill(~visible, _GONE)
    make.call("softmax", make.keep(x, grad=True), dim=dim)
