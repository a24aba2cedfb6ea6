"""The judge's messages, in English and in Chinese.

They are composed where they arise and travel with the report, so they are here and not in `words/`. A part of a message
may itself be in both languages. Text of the learner's code is quoted as it is.
"""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext


def say(key: str, **parts: object) -> Localised:
    """Return the message of this name with its parts filled in."""
    return SENTENCES[key].format(**parts)


SENTENCES: dict[str, Localised] = {
    # Comparison
    "largest-error": _("largest error {error} at {at}; tolerance {tolerance}{place}"),
    "digits-lost": _("float64 lost digits ({fault}): computed in float32?"),
    "other-shape": _("shape {got} where {due} was expected{place}"),
    "other-dtype": _("dtype {got} where {due} was expected{place}"),
    "other-device": _("made on device {got} where {due} was expected{place}"),
    "other-form": _("returned {got} where {due} was expected{place}"),
    "other-entries": _("{count} of {all} entries differ, the first at {at}{place}"),
    "other-bits": _("{got} at {at} where exactly {due} was expected{place}"),
    "so-many-differ": _("; {count} of {all} entries differ"),
    "other-value": _("{got} at {at} where {due} was expected{place}"),
    "other-exception": _("raised {got} where {due} was due"),
    "no-exception": _("returned {got} where {due} was to be raised"),
    "missing-result": _("a result is missing"),
    "in-result": _(" in result{path}"),
    "changed-object": _(" (the object changed in place)"),
    "calls-of-callable": _(" (calls of the callable)"),
    "call-of-many": _(" ({name}, call {number} of {count})"),
    "a-tensor": _("a {dtype} tensor of shape {shape}"),
    "an-object": _("an object of type {name}"),
    "a-sequence": _("a {kind} of {count}"),
    "a-dict": _("a dict with keys {keys}"),
    # Gradients, devices, properties
    "gradient-of": _("gradient of {name}: {fault}"),
    "on-the-cpu": _("on the CPU, but another device was given: make tensors with device=x.device or device=device"),
    "not-on-the-default": _(
        "returned a tensor on the CPU although torch's default device is another one: pass device=None on as it is"
    ),
    "only-interpreted": _(
        "not checked on a GPU: only Triton's interpreter sees the bytes that a kernel moves (--device cpu)"
    ),
    "gpu-unusable": _("run on the CPU, since the GPU cannot be used: {why}"),
    "interpreted-too": _(
        "compiled on the GPU, and run in Triton's interpreter on the CPU as well, which looks at each load and store"
    ),
    "interpreter-objects": _(
        "the GPU objects to less: this is from Triton's interpreter on the CPU, which looks at each load and store"
    ),
    "no-proof-of-device": _("cannot be proved for this solution without a GPU"),
    "fails-on-another-device": _(
        "runs on the CPU and not on another device, where its inputs may be just as well: {fault}"
    ),
    "wrong-at-size": _("at size {size}, where its cost is measured, the result is wrong: {fault}"),
    "other-form-of-result": _("the result has not the form that was asked for ({error})"),
    # Purity
    "mutated-argument": _("changed its argument {name} in place"),
    "mutated-container": _("changed a dict or list that was passed to {name}"),
    "aliased-argument": _("the result of {name} shares memory with an argument"),
    "aliased-state": _("what {name} keeps for later calls shares memory with an argument"),
    "aliased-earlier": _("the result of {name} shares memory with what an earlier call returned"),
    "aliased-objects": _("two objects made by {name} share memory"),
    "left-in-module": _("a call of {name} leaves something in its module"),
    "seeds-global": _("{name} seeds torch's global generator, which belongs to the caller"),
    "draws-global": _("{name} draws from torch's global generator, although it is given one"),
    "default-dtype-changed": _("{name} changes torch's default dtype and leaves it so, for all code that runs later"),
    "autograd-switched": _("{name} switches autograd on or off and leaves it so, for all code that runs later"),
    "changed-later": _("what {name} returned was changed by a later call"),
    "state-on-graph": _("what is kept between calls hangs on the graph of autograd: use torch.no_grad()"),
    "result-on-graph": _("the result of {name} hangs on the graph of autograd: use torch.no_grad()"),
    "answers-from-memory": _("answers for what its arguments held before they were changed in place"),
    "another-answer": _("gave another answer for the same input ({fault})"),
    "another-answer-when-fresh": _("gives another answer in a fresh process than after other calls ({fault})"),
    "only-after-other-calls": _("fails only after other calls: {fault}"),
    "only-together": _("{fault}; by itself this call is right: the ones before it change its answer"),
    "kept-counterexample": _("the stored counterexample: {fault}"),
    # The file and its process
    "no-entry-point": _("the file does not define {names}; keep the name that was asked for"),
    "does-not-parse": _("SyntaxError: {error}"),
    "at-line": _("line {line}: {error}"),
    "not-parsed": _("the file cannot be parsed ({error})"),
    "nests-too-deeply": _("the file nests too deeply to be read"),
    "raised-at": _("{error} (line {line}: {code})"),
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
        "programs {other} and {program} of the grid both store to element {index} of {tensor}; they run in no order "
        "(line {line}: {code})"
    ),
    "load-after-store": _(
        "program {program} of the grid loads element {index} of {tensor}, which another program stores to; they run in "
        "no order (line {line}: {code})"
    ),
    "store-after-load": _(
        "program {program} of the grid stores to element {index} of {tensor}, which another program loads; they run in "
        "no order (line {line}: {code})"
    ),
    "belongs-in-a-kernel": _(
        "line {line}: {name} computes outside of the kernel; torch may only make, view and copy tensors here"
    ),
    "no-kernel-launched": _("no Triton kernel was launched: write one and launch it as kernel[grid](...)"),
    "in-a-call": _("in a call of {names}"),
    "in-a-program": _("while it was used"),
    "while-read": _("while it was read"),
    "while-loaded": _("while it was loaded"),
    "still-running": _("still running after {seconds} s {place}"),
    "all-too-slow": _("all calls together have taken {seconds} s (the last one {place})"),
    "more-memory": pgettext("memory", "{said}"),
    "killed-loaded": pgettext("loading", "{said}"),
    "killed-called": pgettext("calling", "{said}"),
    "no-result": _("sent something that is not a result ({error})"),
    "cannot-be-judged": _("returned something that cannot be judged ({error})"),
    "judged-too-long": _("returned something that takes more than {seconds} s to be judged"),
    "judged-too-large": _("returned something that takes more than {mib} MiB to be judged"),
    "unusable-call": _("this call cannot be answered ({error})"),
    "too-many-calls": _("called the functions that it was given more than {count} times"),
    "tried": _("tried {names}: a submission may compute, and nothing else"),
    # Source and signatures
    "import-not-allowed": _("line {line}: imports {module}; only {allowed} may be imported"),
    "out-of-bounds": _("line {line}: {name} is out of bounds in a submission"),
    "forbidden-call": _("line {line}: {name} is not allowed here: it is what this challenge asks you to write"),
    "too-few-parameters": _("{name} takes {count} parameters where {asked} is called"),
    "other-parameter-name": _("parameter {number} of {name} is called {got} where {asked} says {due}"),
    "more-required-parameters": _("{name} has more required parameters than {asked}"),
    "other-keywords": _("{name} has other keyword parameters than {asked}"),
    # Patterns in the answers
    "the-result": _("The result"),
    "part-of-the-result": _("Part {part} of the result"),
    "transposed": _("{what} has two axes swapped: {first} and {second}."),
    "one-late": _("{what} is off by one along {axis}: each position holds what belongs to the one before it."),
    "one-early": _("{what} is off by one along {axis}: each position holds what belongs to the one after it."),
    "sign-flipped": _("{what} has the opposite sign everywhere."),
    "scaled": _("{what} is {factor} times what is due, everywhere."),
    "too-large-by": _("{what} is too large by {amount}, everywhere."),
    "too-small-by": _("{what} is too small by {amount}, everywhere."),
    "one-place-wrong": _("{what} is wrong at {place} alone; everywhere else it is right."),
    "digits-of": _("{what} is right, but has only the digits of {dtype}: it was rounded to that on the way."),
    "inputs-rounded": _(
        "{what} is right for inputs rounded to {dtype}: they are cast to it before anything is computed."
    ),
    # Cases that the learner types
    "while-typed": _("in the case that you typed"),
    "typed-refused": _("a case may compute, and nothing else: it tried {names}"),
    "typed-too-large": _("a case has up to {calls} calls and {numbers} numbers; make it smaller"),
    "typed-unfit": _("{name} does not take these arguments: {error}; it has {known}"),
    "typed-not-allowed": _(
        "{value} cannot be passed; numbers, texts, lists, dicts, torch.tensor([...]) and torch.randn(2, 3) can"
    ),
    "typed-no-call": _("nothing is called; type the arguments of {names}"),
    "typed-module": _("{name} is a module with weights of its own, drawn at random: no case can be typed for it"),
    "typed-other-rank": _("{argument} has {got} dimensions; the challenge has it as ({axes})"),
    "typed-other-size": _("{axis} is {got} in {argument} and {due} in {other}; the challenge has them equal"),
    "typed-unfit-size": _("{axis} is {got} in {argument}; in the challenge {axis} = {says}"),
    "typed-other-choice": _("{argument} is {got}; it is one of {choices}"),
    "typed-no-tensor": _("{argument} is no tensor; the challenge has one there"),
    "reference-raises": _("the reference answers such arguments with {name}"),
    "reference-too-slow": _("the reference needs too long or too much memory for this case; make it smaller"),
    "typed-same": _("both answers are the same"),
    "typed-random": _("this technique draws at random: two answers may differ and both be right"),
    # The course of a grading
    "needs": _("needs {check}"),
    "needs-first-rung": _("comes once the file is solved"),
    "not-measured": _("not measured"),
    "milliseconds-by-events": _("{ms} ms on the device, by its own events"),
    "milliseconds": _("{ms} ms a call, the way between the processes included"),
}
