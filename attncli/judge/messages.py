"""The messages of the judge's reports, by name.

A part of a message may itself be a message. Text of the learner's code is quoted as it is.
"""

from __future__ import annotations

from attncli.i18n import Localised, _


def say(key: str, **parts: object) -> Localised:
    """Return the message of this name with its parts filled in."""
    return SENTENCES[key].format(**parts)


SENTENCES: dict[str, Localised] = {
    # Comparison
    "largest-error": _("largest error {error} at {at}; tolerance {tolerance}{place}"),
    "exact": _("largest error {error} at {at}; must be exact{place}"),
    "digits-lost": _("float64 lost digits ({fault}): computed in float32?"),
    "other-shape": _("shape {got}, expected {due}{place}"),
    "other-dtype": _("dtype {got}, expected {due}{place}"),
    "other-device": _("on device {got}, expected {due}{place}"),
    "other-form": _("returned {got}, expected {due}{place}"),
    "other-entries": _("{count} of {all} entries differ, the first at {at}{place}"),
    "other-bits": _("{got} at {at}, expected exactly {due}{place}"),
    "so-many-differ": _("; {count} of {all} entries differ"),
    "other-value": _("{got} at {at}, expected {due}{place}"),
    "other-exception": _("raised {got}, expected {due}"),
    "no-exception": _("returned {got} instead of raising {due}"),
    "missing-result": _("a result is missing"),
    "in-result": _(" in result{path}"),
    "changed-object": _(" (the object changed in place)"),
    "calls-of-callable": _(" (calls to the given function)"),
    "call-of-many": _(" ({name}, call {number} of {count})"),
    "a-tensor": _("a {dtype} tensor of shape {shape}"),
    "an-object": _("an object of type {name}"),
    "a-sequence": _("a {kind} of {count}"),
    "a-dict": _("a dict with keys {keys}"),
    # Gradients, devices, properties
    "gradient-of": _("gradient of {name}: {fault}"),
    "on-the-cpu": _("on the CPU, but another device was given: make tensors with device=x.device or device=device"),
    "not-on-the-default": _(
        "returned a CPU tensor, but torch's default device is another one: pass device=None through unchanged"
    ),
    "only-interpreted": _(
        "not checked on a GPU: only Triton's interpreter counts the bytes that a kernel moves (--device cpu)"
    ),
    "gpu-unusable": _("run on the CPU, since the GPU cannot be used: {why}"),
    "interpreted-too": _(
        "compiled on the GPU, and also run in Triton's interpreter on the CPU, which checks each load and store"
    ),
    "interpreter-objects": _(
        "found by Triton's interpreter on the CPU, which checks each load and store; the GPU does not"
    ),
    "no-proof-of-device": _("cannot be verified for this solution without a GPU"),
    "fails-on-another-device": _("runs on the CPU only; inputs may be on another device: {fault}"),
    "wrong-at-size": _("the result is wrong at size {size}, where its cost is measured: {fault}"),
    "other-form-of-result": _("the result has the wrong structure ({error})"),
    # Purity
    "mutated-argument": _("changed its argument {name} in place"),
    "mutated-container": _("changed a dict or list that was passed to {name}"),
    "aliased-argument": _("the result of {name} shares memory with an argument"),
    "aliased-state": _("state that {name} keeps for later calls shares memory with an argument"),
    "aliased-earlier": _("the result of {name} shares memory with the result of an earlier call"),
    "aliased-objects": _("two objects made by {name} share memory"),
    "left-in-module": _("a call to {name} leaves state in its module"),
    "seeds-global": _("{name} seeds torch's global generator, which belongs to the caller"),
    "draws-global": _("{name} draws from torch's global generator, although it is given one"),
    "default-dtype-changed": _("{name} changes torch's default dtype and does not restore it"),
    "autograd-switched": _("{name} switches autograd on or off and does not restore it"),
    "changed-later": _("the result of {name} was changed by a later call"),
    "state-on-graph": _("state kept between calls is attached to the autograd graph: use torch.no_grad()"),
    "result-on-graph": _("the result of {name} is attached to the autograd graph: use torch.no_grad()"),
    "answers-from-memory": _("uses old values of arguments that were changed in place"),
    "another-answer": _("gave different results for the same input ({fault})"),
    "another-answer-when-fresh": _("gives a different result in a fresh process than after other calls ({fault})"),
    "only-after-other-calls": _("fails only after other calls: {fault}"),
    "only-together": _("{fault}; the call is correct on its own: earlier calls change its result"),
    "kept-counterexample": _("the stored counterexample: {fault}"),
    # The file and its process
    "no-entry-point": _("the file does not define {names}; keep the required name"),
    "does-not-parse": _("SyntaxError: {error}"),
    "at-line": _("line {line}: {error}"),
    "not-parsed": _("the file cannot be parsed ({error})"),
    "nests-too-deeply": _("the file nests too deeply to be read"),
    "raised-at": _("{error} (line {line}: {code})"),
    "allocated": _("out of memory: tried to allocate {size}"),
    "raised-in": _("{error} ({place})"),
    # Kernels
    "load-outside": _(
        "program {program} of the grid loads element {index} of {tensor}, which has {count} (line {line}: {code})"
    ),
    "store-outside": _(
        "program {program} of the grid stores to element {index} of {tensor}, which has {count} (line {line}: {code})"
    ),
    "load-between": _(
        "program {program} of the grid loads memory between the elements of {tensor}, which is a view with strides "
        "(line {line}: {code})"
    ),
    "store-between": _(
        "program {program} of the grid stores between the elements of {tensor}, which is a view with strides "
        "(line {line}: {code})"
    ),
    "store-twice": _(
        "programs {other} and {program} of the grid both store to element {index} of {tensor}; their order is "
        "undefined (line {line}: {code})"
    ),
    "load-after-store": _(
        "program {program} of the grid loads element {index} of {tensor}, which another program stores to; their "
        "order is undefined (line {line}: {code})"
    ),
    "store-after-load": _(
        "program {program} of the grid stores to element {index} of {tensor}, which another program loads; their "
        "order is undefined (line {line}: {code})"
    ),
    "belongs-in-a-kernel": _(
        "line {line}: {name} computes outside of the kernel; torch may only make, view and copy tensors here"
    ),
    "no-kernel-launched": _("no Triton kernel was launched: write one and launch it as kernel[grid](...)"),
    "in-a-call": _("in a call to {names}"),
    "in-a-program": _("while in use"),
    "while-read": _("while reading the file"),
    "while-loaded": _("while loading the file"),
    "still-running": _("still running after {seconds} s {place}"),
    "all-too-slow": _("all calls together have taken {seconds} s (the last one {place})"),
    "no-result": _("sent an invalid result ({error})"),
    "cannot-be-judged": _("returned something that cannot be graded ({error})"),
    "judged-too-long": _("returned something that takes more than {seconds} s to grade"),
    "judged-too-large": _("returned something that takes more than {mib} MiB to grade"),
    "unusable-call": _("this call cannot be answered ({error})"),
    "too-many-calls": _("called the functions passed to it more than {count} times"),
    "tried": _("tried {names}: a submission may only compute"),
    # Source and signatures
    "import-not-allowed": _("line {line}: imports {module}; only {allowed} may be imported"),
    "out-of-bounds": _("line {line}: {name} is not allowed in a submission"),
    "forbidden-call": _("line {line}: {name} is not allowed here: write it yourself"),
    "too-few-parameters": _("{name} takes {count} parameters; the call is {asked}"),
    "other-parameter-name": _("parameter {number} of {name} is called {got}; in {asked} it is {due}"),
    "more-required-parameters": _("{name} has more required parameters than {asked}"),
    "other-keywords": _("{name} does not have the keyword parameters of {asked}"),
    # Patterns in the answers
    "the-result": _("The result"),
    "part-of-the-result": _("Part {part} of the result"),
    "transposed": _("{what} has two axes swapped: {first} and {second}."),
    "one-late": _("{what} is off by one along {axis}: each position holds the value of the one before it."),
    "one-early": _("{what} is off by one along {axis}: each position holds the value of the one after it."),
    "sign-flipped": _("{what} has the opposite sign everywhere."),
    "scaled": _("{what} is {factor} times the expected value everywhere."),
    "too-large-by": _("{what} is too large by {amount} everywhere."),
    "too-small-by": _("{what} is too small by {amount} everywhere."),
    "one-place-wrong": _("{what} is wrong only at {place}."),
    "digits-of": _("{what} is right, but only to the precision of {dtype}: an intermediate value was rounded."),
    "inputs-rounded": _("{what} is right for inputs rounded to {dtype}: they are cast before anything is computed."),
    # Cases that the learner types
    "while-typed": _("in the case that you typed"),
    "typed-refused": _("a case may only compute: it tried {names}"),
    "typed-too-large": _("a case has up to {calls} calls and {numbers} numbers; make it smaller"),
    "typed-unfit": _("{name} does not take these arguments: {error}; its parameters are {known}"),
    "typed-not-allowed": _(
        "cannot pass {value}; pass numbers, strings, lists, dicts, torch.tensor([...]) or torch.randn(2, 3)"
    ),
    "typed-no-call": _("no call; type the arguments of {names}"),
    "typed-module": _("{name} is a module with random weights: you cannot type a case for it"),
    "typed-other-rank": _("{argument} has {got} dimensions; expected ({axes})"),
    "typed-other-size": _("{axis} is {got} in {argument} and {due} in {other}; they must be equal"),
    "typed-unfit-size": _("{axis} is {got} in {argument}; in the challenge {axis} = {says}"),
    "typed-other-choice": _("{argument} is {got}; use one of {choices}"),
    "typed-no-tensor": _("{argument} must be a tensor"),
    "reference-raises": _("the reference raises {name} for these arguments"),
    "reference-too-slow": _("this case is too slow or too large for the reference; make it smaller"),
    "typed-same": _("both answers are the same"),
    "typed-random": _("the technique is random: both answers may be right"),
    # The course of a grading
    "needs": _("needs {check}"),
    "needs-first-rung": _("checked once the file is solved"),
    "not-measured": _("not measured"),
    "milliseconds-by-events": _("{ms} ms on the device, by device events"),
    "milliseconds": _("{ms} ms per call, including IPC"),
}
