"""The facts that a challenge's `inputs.py` may declare: what each says. The judge composes from them what all share.

A new one needs a field with its default in `judge/cases/facts.py` too, where the judge reads it, and a line in
`docs/challenge-format.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

FACTS: Mapping[str, str] = {
    "AXES": "the axes of each argument and result: {'x': '... D', 'return': '... D'}",
    "SIZES": "what is drawn for an axis: {'T': (smallest, largest)}, with a third number where one long side is tried",
    "DERIVED": "axes that follow from others: {'H': 'G * R'}",
    "LEAD": "how many leading dimensions `...` stands for when drawn: (fewest, most)",
    "SIXTEEN_BITS": "float32 (computed in float32, rounded once), native (in 16 bits), technique (they are the point)",
    "LARGE": "the factor on drawn values in the profile large",
    "OFFSET": "what is added to drawn values in the profile offset",
    "PROFILES": "the profiles that a check draws from, where they differ: {'stable': ['large']}",
    "TOLERANCE": "absolute tolerances by dtype that the statement grants",
    "TOLERANCE_STABLE": "the same for large and offset inputs",
    "GRADIENTS": "False where no gradient is asked for at edge cases",
    "ALIAS_ALLOWED": "entries whose result may be an argument",
    "VIEWS_OF_STATE": "methods and entries whose results are views of what an object keeps: later calls show through",
    "WITHOUT_GRAPH": "entries whose result has no gradient",
    "MODULES_UNCHANGED": "True where a call must leave nothing in its module",
    "HARDENED": "edge cases, motifs and `stable` that the technique as such does not meet: asked on the second rung",
    "WITHOUT_MOTIFS": "motifs that say nothing here, by name",
    "CONTRACTS": "how work and memory may grow",
}
# What `HARDENED` and `WITHOUT_MOTIFS` may name besides edge cases of the challenge's own.
MOTIFS = frozenset(
    {
        *("ones", "one", "equal", "long", "leads", "again", "styles", "same", "masks", "empty-rows"),
        *("scores-far-apart", "scores-later-keys-lead", "scores-very-low"),
        *("scores-beyond-float16", "scores-tied-in-bfloat16"),
    }
)
SixteenBits = Literal["float32", "native", "technique"]
SIXTEEN_BITS: tuple[SixteenBits, ...] = get_args(SixteenBits)
