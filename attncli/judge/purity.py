"""What an answer must not have done: changed what it was given, or handed out memory that is not its own."""

from __future__ import annotations

from attncli.judge.case import Case
from attncli.judge.demands import Demands, call_name, tensor_trees
from attncli.judge.expected import Observed


def impurity(demands: Demands, case: Case, observed: Observed) -> tuple[str, str] | None:
    """The first fault as (reason, message), or None. `observed` is the answer to a request that wants "pure"."""
    shared = {tree[1] for tree in tensor_trees(case.shared)}
    for k in observed.pure.get("mutated") or ():
        if k not in shared:
            return "mutated", f"changed its argument {demands.names(case).get(k, f'input {k}')} in place"
    for step in observed.pure.get("containers") or ():
        return "mutated", f"changed a dict or list that was passed to {call_name(case, step)}"
    for step, kind in observed.pure.get("aliased") or ():
        name = call_name(case, step)
        if kind == "input" and name not in demands.alias_allowed:
            return "aliased", f"the result of {name} shares memory with an argument"
        if kind == "kept":
            return "aliased", f"what {name} keeps for later calls shares memory with an argument"
        if kind == "earlier":
            return "aliased", f"the result of {name} shares memory with what an earlier call returned"
    for step in observed.pure.get("instances") or ():
        return "aliased", f"two objects made by {call_name(case, step)} share memory"
    if demands.modules_unchanged:
        for step in observed.pure.get("modules") or ():
            return "mutated", f"a call of {call_name(case, step)} leaves something in its module"
    for step, kind in observed.pure.get("random") or ():
        what = "seeds torch's global generator" if kind == "seeded" else "draws from torch's global generator"
        why = "which belongs to the caller" if kind == "seeded" else "although it is given one"
        return "nondeterministic", f"{call_name(case, step)} {what}, {why}"
    for step in observed.pure.get("changed") or ():
        return "aliased", f"what {call_name(case, step)} returned was changed by a later call"
    return None


def with_graph(case: Case, observed: Observed) -> str | None:
    """What hangs on the graph of autograd, in words, where a challenge promises to work without it."""
    for step in observed.pure.get("graph") or ():
        what = "what is kept between calls" if step < 0 else f"the result of {call_name(case, step)}"
        return f"{what} hangs on the graph of autograd: use torch.no_grad()"
    return None
