"""How far an answer may be off: every factor that the judge measures, compares and names mistakes with.

What is allowed is what rounding explains (a multiple of epsilon) and, where an answer misses by more, the slack of its
case: how far the reference itself moves when its inputs move by one ulp, or when it runs in the dtype of the inputs.
"""

from __future__ import annotations

import torch

# Multiples of epsilon that need no further question; low precision has few digits to give away, 8 bits have none.
EPSILONS: dict[torch.dtype, float] = {
    torch.float64: 64.0,
    torch.float32: 64.0,
    torch.float16: 8.0,
    torch.bfloat16: 4.0,
    torch.float8_e4m3fn: 0.25,
    torch.float8_e5m2: 0.25,
}
USUAL_EPSILONS = 64.0
# Beside these, so many of the smallest numbers that a dtype can hold.
SMALLEST_STEPS = 8

# Plain numbers have no dtype; they are compared as Python's floats.
PLAIN_RELATIVE = 1e-9
PLAIN_ABSOLUTE = 1e-12

# Slack: so many runs on inputs that are moved by one ulp, and so many times what these move the answer.
PERTURBATIONS = 4
CONDITIONING_FACTORS = {torch.float64: 32.0, torch.float32: 32.0, torch.float16: 4.0, torch.bfloat16: 4.0}
USUAL_CONDITIONING = 32.0
# The same for a run in the dtypes of the inputs.
NATIVE_FACTOR = 4.0
# No wider truth shows how float64 itself rounds: a float32 run, scaled down, does.
ROUNDING_FACTOR = 16.0 * 2.0**-29

# An answer that misses by less than this factor may show that the conditioning was measured too small.
CLOSE = 4.0
CLOSER_PERTURBATIONS = 16
# So much of the largest value no mistake is as small as.
HARMLESS = 2e-4

# Gradients take a second run each time, and mean something only as a whole.
GRADIENT_PERTURBATIONS = 3
GRADIENT_CONDITIONING = 32.0
# An input counts as so large at least where the size of its gradient is estimated by it.
SMALLEST_INPUT = 1e-3
# Two gradients of native runs are the same gradient where they differ by what so many times their size would round to.
SAME_GRADIENT = 64

# A tensor whose entries differ by less than this part of the largest tells nothing of their order.
VARIES = 1e-3
# Two measurements of one constant in float32 are nearer to each other than this.
NEAR = 3e-5

# A wrong answer is like a known mistake's if it is so many times nearer to it than to what is right.
NEARER = 4.0
# A mistake that leaves some wrong entries unexplained is named from the second share on; with less than the first, over
# the first probes, it is put to no others.
SOME_EXPLAINED = 0.3
MOST_EXPLAINED = 0.5
# So many entries for each one explained may be right by chance where the mistake is wrong.
CONTRADICTED = 0.05
# The likeliest mistake explains so much more than the next one.
CLEARLY = 0.1
