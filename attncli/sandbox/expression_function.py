"""A function given as the text of one expression, made where it is called: autograd goes through it."""

from __future__ import annotations

import math
from typing import Any

import torch


class ExpressionFunction:
    """A function of the challenge's own, over `torch` and `math`; `text` is its lambda."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._function = eval(text, {"torch": torch, "math": math})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)
