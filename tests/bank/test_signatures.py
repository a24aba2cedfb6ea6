"""Read signatures from code and from statements in any layout."""

import ast

from attncli.bank.challenge_rules import Signature, UnreadableSignature, called, defined_in, shown_in

CODE = """
def f(x: Tensor, *, eps: float = 1e-5) -> Tensor: ...
def other(y): ...
class M(nn.Module):
    def __init__(self, d: int) -> None: ...
    def forward(self, x): ...
    def _own(self): ...
"""


def test_functions_constructors_and_public_methods_are_found() -> None:
    found = defined_in(ast.parse(CODE), ["f", "M"])
    assert {name: signature.line for name, signature in found.items()} == {"f": 2, "M.__init__": 5, "M.forward": 6}
    assert found["f"].written == "(x: Tensor, *, eps: float=1e-05) -> Tensor"
    assert found["f"].parameters == "(x, *, eps=1e-05)"
    assert set(called(found, 'make.method("train")')) == {"f", "M.__init__"}
    assert set(called(found, 'make.method("forward")')) == {"f", "M.__init__", "M.forward"}


def test_a_default_of_the_files_own_may_have_any_name() -> None:
    one, two = (defined_in(ast.parse(f"def f(x, act={name}): ..."), ["f"])["f"] for name in ("elu", "plus_one"))
    assert one.parameters == two.parameters
    assert one.written != two.written


STATEMENT = """Text with def g(x) in it.

```python
Pair = tuple[int, int]

def f(
    x: Tensor,  # (..., D)
    eps: float = 1e-5,
) -> Tensor
class M(nn.Module):
    def __init__(self, d: int) -> None
    def forward(self, x): ...
def last(y: Pair) -> None:
```

```
def quoted(x)
```
"""


def test_the_signatures_of_python_blocks_are_found_with_their_lines() -> None:
    found = [signature for signature in shown_in(STATEMENT) if isinstance(signature, Signature)]
    assert [(signature.name, signature.line) for signature in found] == [
        ("f", 6),
        ("M.__init__", 11),
        ("M.forward", 12),
        ("last", 13),
    ]
    assert found[0].written == "(x: Tensor, eps: float=1e-05) -> Tensor"
    for header in ("def f(x", "def f(x -> Tensor)", "def (x)"):
        assert list(shown_in(f"```python\n{header}\n```")) == [UnreadableSignature(2, header)]
