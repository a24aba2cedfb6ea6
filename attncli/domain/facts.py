"""The facts that `inputs.py` may declare, by name; from them the judge composes what all challenges share."""

from __future__ import annotations

from collections.abc import Mapping

FACTS: Mapping[str, str] = {
    "AXES": "the letters of the axes of arguments and results",
    "SIZES": "the smallest and the largest size that is drawn of each axis, and the long side",
    "LEAD": "the leading dimensions that may stand before the named ones",
    "SIXTEEN_BITS": "how 16 bits are computed",
    "FLOAT32_INSIDE": "16-bit results are float32 results rounded once",
    "PROFILES": "the profiles of a check",
    "LARGE": "the gain of the profile large",
    "OFFSET": "the mean of the profile offset",
    "GRADIENTS": "whether anything is differentiated",
    "HARDENED": "edge cases that belong to the second rung although they are in float32",
    "TOLERANCE": "an absolute tolerance by dtype",
    "TOLERANCE_STABLE": "an absolute tolerance of stable by dtype",
    "ALIAS_ALLOWED": "entry points whose result may be their input",
    "MODULES_UNCHANGED": "a call leaves nothing in its module",
    "WITHOUT_GRAPH": "arguments of entry points that promise to work without autograd",
    "CONTRACTS": "promises on growth",
}
