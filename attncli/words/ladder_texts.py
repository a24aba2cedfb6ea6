"""What `attn ladder` prints: the rungs, where an engine broke, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.i18n import Localised, _, quoted

ROLES: Mapping[str, Localised] = {
    "embedding": _("embedding"),
    "position": _("positions"),
    "norm": _("norm"),
    "attention": _("attention"),
    "ffn": _("feed-forward network"),
    "experts": _("experts"),
    "loss": _("loss"),
    "optimiser": _("optimiser"),
    "cache": _("cache"),
    "prefix-cache": _("prefix cache"),
    "sampler": _("sampler"),
    "speculation": _("speculation"),
    "scheduler": _("scheduler"),
}
PARTS: Mapping[str, Localised] = {
    "training": _("training"),
    "reading": _("prefill"),
    "weather": _("extreme numbers"),
    "decoding": _("decoding with caches"),
    "choosing": _("sampling"),
    "serving": _("serving"),
}
# `{n}` counts from 1.
PLACES: Mapping[str, Localised] = {
    "rates": _("the learning rates of a run"),
    "embedding": _("the embedded tokens of the first batch"),
    "embedding-norm": _("the embeddings behind their norm"),
    "block-a": _("what the first block gives"),
    "block-b": _("what the second block gives"),
    "first-loss": _("the loss before the first step"),
    "loss": _("the loss of training step {n}"),
    "gradients": _("the gradients of training step {n}"),
    "clipping": _("the clipped gradients of training step {n}"),
    "update": _("the weights after training step {n}"),
    "weights": _("the trained weights"),
    "learned": _("the first loss and the last"),
    "arguments": _("a tensor, list or dict that was handed over was changed"),
    "results": _("a result that was handed out earlier was changed"),
    "prompt": _("the logits behind a prompt"),
    "future": _("a later token changes what comes before it"),
    "chunk": _("chunk {n} of a prompt"),
    "ragged-rows": _("rows of one batch that begin at places of their own"),
    "first-position": _("a token at position 0"),
    "turned": _("queries whose positions come in no order"),
    "distance": _("scores far from the start of a text"),
    "groups": _("heads that share keys"),
    "copies": _("keys are copied for every head"),
    "groups-backward": _("the gradients of shared keys"),
    "uneven-groups": _("heads that cannot be shared out evenly"),
    "short-past": _("fewer keys than causal queries"),
    "widths": _("the hidden widths of models"),
    "routes": _("which experts are chosen, and how they are weighted"),
    "router-learns": _("what the router learns"),
    "bias-learns": _("whether the router's bias learns"),
    "unknown-rule": _("a gate rule that there is not"),
    "output-layer": _("loss and gradients of the output layer"),
    "logits-at-once": _("logits held at the same time"),
    "norms": _("features of several sizes behind a norm"),
    "norms-far-out": _("features far from zero behind a norm"),
    "norms-backward": _("the gradients of a norm"),
    "table": _("rows of the table and their gradients"),
    "sharp-attention": _("attention with scores of ±200"),
    "gates": _("gates far from zero"),
    "steep-routes": _("a router with logits of ±200"),
    "steep-choice": _("a choice among probabilities that are 0"),
    "loud-loss": _("the loss for logits of ±10⁴, and with masks of every kind"),
    "loud-output-layer": _("the output layer with logits of ±10⁴"),
    "clipped": _("gradients that are short, zero, infinite or no numbers"),
    "long-run": _("update {n} of a long run"),
    "cached-step": _("a decoding step with a cache"),
    "continuation": _("two continuations of one text"),
    "cache-size": _("how much the cache holds"),
    "cache-work": _("the work of a step over a long cache"),
    "page-slot": _("the slot that a token is given"),
    "paged-attention": _("attention through a table of pages"),
    "page-tables": _("the tables of pages"),
    "shared-pages": _("which pages two texts share"),
    "freed": _("what is left when two of three texts are gone"),
    "unknown-sequence": _("a sequence that nobody knows"),
    "memory-is-full": _("a token for which there is no page"),
    "parted": _("texts that part inside a page"),
    "gathered": _("several sequences are gathered in one tensor"),
    "merged": _("a long cache that is read in pieces"),
    "merged-backward": _("the gradients of merged pieces"),
    "penalty": _("penalised logits"),
    "filters": _("filtered logits"),
    "text": _("a text that the model writes alone"),
    "drafted": _("a text that one block drafts and the whole model judges"),
    "guesses": _("a guess about which nothing is left to chance"),
    "generator": _("where random numbers come from"),
    "frequencies": _("how often guesses are kept and what follows them"),
    "schedule": _("who is scheduled, preempted and finished"),
    "door": _("a request that fits, or never would"),
    "prefix": _("the prefixes that are found"),
    "evicted": _("the pages that are evicted"),
    "served": _("step {n} of the server"),
    "prefix-hit": _("what request {id} finds in the prefix cache"),
    "logits": _("the logits that a served token is drawn from"),
    "tokens": _("the tokens of request {id}"),
    "pages-evicted": _("the pages that make room for request {id}"),
    "whole-text": _("the text of request {id}, read once more without a cache"),
    "counts": _("how many tokens were computed, and how many found"),
    "sample": _("the text that was served"),
    "day": _("what was served in all"),
}
REASONS: Mapping[str, Localised] = {
    "exception": _("raised {said}"),
    "timeout": _("did not come to an end within its {seconds:g} s"),
    "memory": _("took more than its {mib} MiB"),
    "exited": _("ended the engine's process"),
    "crashed": _("crashed the engine's process"),
    "output": _("printed without end"),
    "refused": _("tried what no piece may"),
    "protocol": _("spoiled the engine's log"),
    "too-large": _("filled the engine's log"),
}
STANDING: Mapping[str, Localised] = {
    "right": _("runs right"),
    "broken": _("BREAKS IT"),
    "reference": quoted("-"),
}
HEAD = _("rung|piece|whose|used|in the engine")
OWN = _("your own")
NOT_OWN = _("the reference")
USED = _("{count} ×")
PROGRESS = _("engine {number}: {pieces}")
ALL_REFERENCES = _("references alone")
SO_MANY_OWN = _("{count} pieces of your own")
BEGIN = _("No piece is your own yet. Begin with the first: attn start {challenge}, then attn grade {challenge} FILE")
NEXT = _("{own} of {total} pieces are your own; next: attn start {challenge}")
COMPLETE = _("All {total} pieces are your own: a language model and its engine.")
TRAINED = _("Trained: the loss went from {first:.2f} to {last:.2f}.")
SERVED = _("Served: {generated} tokens for {computed} computed ones; {found} came out of the prefix cache.")
SAMPLE = _("It wrote: {text}")
IN_THEIR_PLACE = _("With references in their place:")
BREAKS = _("{pieces}: {where}")
TOGETHER = _("{pieces} (each right alone, wrong together): {where}")
AT = _("{part}: {place}")
BETWEEN = _(", ")
RUNS = _("The engine runs right.")
FAILED = _(
    "the engine does not run right, broken by {pieces}; attn grade {first} FILE says more, or try a file with "
    "attn ladder --piece {first}=FILE"
)
