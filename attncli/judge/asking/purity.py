"""What an answer must not have done: changed what it was given, or handed out memory that is not its own."""

from __future__ import annotations

from attncli.domain.text import Localised
from attncli.judge.case import Case
from attncli.judge.messages import say
from attncli.judge.reference import Observed
from attncli.judge.truth.demands import Demands, call_name, tensor_trees

# What a call did to torch's own state: the reason and what is said of it.
_SAID = {
    "seeded": ("nondeterministic", "seeds-global"),
    "drawn": ("nondeterministic", "draws-global"),
    "dtype": ("mutated", "default-dtype-changed"),
    "autograd": ("mutated", "autograd-switched"),
}


def impurity(demands: Demands, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    """The first fault as (reason, message), or None. `observed` is the answer to a request that wants "pure"."""
    shared = {tree[1] for tree in tensor_trees(case.shared)}
    for k in observed.pure.get("mutated") or ():
        if k not in shared:
            return "mutated", say("mutated-argument", name=demands.names(case).get(k, f"input {k}"))
    for step in observed.pure.get("containers") or ():
        return "mutated", say("mutated-container", name=call_name(case, step))
    if demands.modules_unchanged:
        for step in observed.pure.get("modules") or ():
            return "mutated", say("left-in-module", name=call_name(case, step))
    for step, kind in observed.pure.get("globals") or ():
        reason, key = _SAID[kind]
        return reason, say(key, name=call_name(case, step))
    return _sharing(demands, case, observed)


def _sharing(demands: Demands, case: Case, observed: Observed) -> tuple[str, Localised] | None:
    """Memory that is not the answer's own; it comes last, because all else weighs more."""
    for step, kind in observed.pure.get("aliased") or ():
        name = call_name(case, step)
        if kind == "input" and name not in demands.alias_allowed:
            return "aliased", say("aliased-argument", name=name)
        if kind == "kept":
            return "aliased", say("aliased-state", name=name)
        if kind == "earlier" and name not in demands.views_of_state:
            return "aliased", say("aliased-earlier", name=name)
    for step in observed.pure.get("instances") or ():
        return "aliased", say("aliased-objects", name=call_name(case, step))
    for step in observed.pure.get("changed") or ():
        if (name := call_name(case, step)) not in demands.views_of_state:
            return "aliased", say("changed-later", name=name)
    return None


def with_graph(case: Case, observed: Observed) -> Localised | None:
    """What hangs on the graph of autograd, in words, where a challenge promises to work without it."""
    for step in observed.pure.get("graph") or ():
        return say("state-on-graph") if step < 0 else say("result-on-graph", name=call_name(case, step))
    return None
