"""What `attn ladder` prints: the rungs, where an engine broke, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping

from attncli.domain.text import Localised as _T

ROLES: Mapping[str, _T] = {
    "embedding": _T("embedding", "词嵌入"),
    "position": _T("positions", "位置编码"),
    "norm": _T("norm", "归一化层"),
    "attention": _T("attention", "注意力"),
    "ffn": _T("feed-forward network", "前馈网络"),
    "experts": _T("experts", "混合专家"),
    "loss": _T("loss", "损失函数"),
    "optimiser": _T("optimiser", "优化器"),
    "cache": _T("cache", "缓存"),
    "prefix-cache": _T("prefix cache", "前缀缓存"),
    "sampler": _T("sampler", "采样器"),
    "speculation": _T("speculation", "投机解码"),
    "scheduler": _T("scheduler", "调度器"),
}
PARTS: Mapping[str, _T] = {
    "training": _T("training", "训练"),
    "reading": _T("prefill", "读入提示（prefill）"),
    "weather": _T("extreme numbers", "极端数值"),
    "decoding": _T("decoding with caches", "用缓存解码"),
    "choosing": _T("sampling", "采样"),
    "serving": _T("serving", "推理服务"),
}
# `{n}` counts from 1.
PLACES: Mapping[str, _T] = {
    "rates": _T("the learning rates of a run", "一次训练的各步学习率"),
    "embedding": _T("the embedded tokens of the first batch", "第一个 batch 的词嵌入"),
    "embedding-norm": _T("the embeddings behind their norm", "归一化之后的词嵌入"),
    "block-a": _T("what the first block gives", "第一个 Transformer 块的输出"),
    "block-b": _T("what the second block gives", "第二个 Transformer 块的输出"),
    "first-loss": _T("the loss before the first step", "第一步之前的损失"),
    "loss": _T("the loss of training step {n}", "第 {n} 个训练步的损失"),
    "gradients": _T("the gradients of training step {n}", "第 {n} 个训练步的梯度"),
    "clipping": _T("the clipped gradients of training step {n}", "第 {n} 个训练步裁剪后的梯度"),
    "update": _T("the weights after training step {n}", "第 {n} 个训练步之后的权重"),
    "weights": _T("the trained weights", "训练好的权重"),
    "learned": _T("the first loss and the last", "最初和最后的损失"),
    "arguments": _T("a tensor, list or dict that was handed over was changed", "传入的张量、列表或字典被改动"),
    "results": _T("a result that was handed out earlier was changed", "先前交出的结果被改动"),
    "prompt": _T("the logits behind a prompt", "一段提示之后的 logits"),
    "future": _T("a later token changes what comes before it", "后面的 token 影响了前面的结果"),
    "chunk": _T("chunk {n} of a prompt", "提示的第 {n} 段"),
    "ragged-rows": _T("rows of one batch that begin at places of their own", "同一 batch 中起点各不相同的几行"),
    "first-position": _T("a token at position 0", "位置 0 上的 token"),
    "turned": _T("queries whose positions come in no order", "位置不按顺序的 query"),
    "distance": _T("scores far from the start of a text", "离文本开头很远处的分数"),
    "groups": _T("heads that share keys", "共用 key 的各个头"),
    "copies": _T("keys are copied for every head", "给每个头都复制了一份 key"),
    "groups-backward": _T("the gradients of shared keys", "共用的 key 的梯度"),
    "uneven-groups": _T("heads that cannot be shared out evenly", "头数不能均分时"),
    "short-past": _T("fewer keys than causal queries", "因果注意力的 key 少于 query 时"),
    "widths": _T("the hidden widths of models", "各模型的隐藏层宽度"),
    "routes": _T("which experts are chosen, and how they are weighted", "选中的专家和它们的权重"),
    "router-learns": _T("what the router learns", "路由器得到的梯度"),
    "bias-learns": _T("whether the router's bias learns", "路由的 bias 是否得到梯度"),
    "unknown-rule": _T("a gate rule that there is not", "不存在的门控规则"),
    "output-layer": _T("loss and gradients of the output layer", "输出层的损失和梯度"),
    "logits-at-once": _T("logits held at the same time", "同时占着内存的 logits"),
    "norms": _T("features of several sizes behind a norm", "大小不一的特征归一化之后"),
    "norms-far-out": _T("features far from zero behind a norm", "离 0 很远的特征归一化之后"),
    "norms-backward": _T("the gradients of a norm", "归一化的梯度"),
    "table": _T("rows of the table and their gradients", "词表的各行及其梯度"),
    "sharp-attention": _T("attention with scores of ±200", "分数达 ±200 的注意力"),
    "gates": _T("gates far from zero", "离 0 很远的门"),
    "steep-routes": _T("a router with logits of ±200", "logits 达 ±200 的路由"),
    "steep-choice": _T("a choice among probabilities that are 0", "概率下溢为 0 时的选择"),
    "loud-loss": _T("the loss for logits of ±10⁴, and with masks of every kind", "logits 达 ±10⁴、带各种掩码时的损失"),
    "loud-output-layer": _T("the output layer with logits of ±10⁴", "logits 达 ±10⁴ 的输出层"),
    "clipped": _T("gradients that are short, zero, infinite or no numbers", "很短、为 0、无穷或 NaN 的梯度"),
    "long-run": _T("update {n} of a long run", "长时间训练的第 {n} 次更新"),
    "cached-step": _T("a decoding step with a cache", "带 cache 的一步解码"),
    "continuation": _T("two continuations of one text", "同一段文本的两种续写"),
    "cache-size": _T("how much the cache holds", "cache 占用的大小"),
    "cache-work": _T("the work of a step over a long cache", "cache 很长时一步的计算量"),
    "page-slot": _T("the slot that a token is given", "分给 token 的位置"),
    "paged-attention": _T("attention through a table of pages", "经由块表的注意力"),
    "page-tables": _T("the tables of pages", "各序列的块表"),
    "shared-pages": _T("which pages two texts share", "两段文本共用的块"),
    "freed": _T("what is left when two of three texts are gone", "三段文本走了两段之后剩下的"),
    "unknown-sequence": _T("a sequence that nobody knows", "没有登记过的序列"),
    "memory-is-full": _T("a token for which there is no page", "没有空闲块可给 token 时"),
    "parted": _T("texts that part inside a page", "在块的中间分开的几段文本"),
    "gathered": _T("several sequences are gathered in one tensor", "把几个序列收集到了一个张量里"),
    "merged": _T("a long cache that is read in pieces", "分段读取的长 cache"),
    "merged-backward": _T("the gradients of merged pieces", "合并各段时的梯度"),
    "penalty": _T("penalised logits", "罚过的 logits"),
    "filters": _T("filtered logits", "过滤之后的 logits"),
    "text": _T("a text that the model writes alone", "模型独自写出的一段文本"),
    "drafted": _T("a text that one block drafts and the whole model judges", "一个块打草稿、整个模型验证写出的文本"),
    "guesses": _T("a guess about which nothing is left to chance", "结果没有任何随机余地的草稿"),
    "generator": _T("where random numbers come from", "随机数的来源"),
    "frequencies": _T("how often guesses are kept and what follows them", "草稿被接受的频率和后续 token 的分布"),
    "schedule": _T("who is scheduled, preempted and finished", "哪些请求被调度、抢占和完成"),
    "door": _T("a request that fits, or never would", "恰好放得下或永远放不下的请求"),
    "prefix": _T("the prefixes that are found", "找到的前缀"),
    "evicted": _T("the pages that are evicted", "淘汰的块"),
    "served": _T("step {n} of the server", "服务的第 {n} 步"),
    "prefix-hit": _T("what request {id} finds in the prefix cache", "请求 {id} 在前缀缓存中的命中"),
    "logits": _T("the logits that a served token is drawn from", "服务中抽取 token 所用的 logits"),
    "tokens": _T("the tokens of request {id}", "请求 {id} 的 token"),
    "pages-evicted": _T("the pages that make room for request {id}", "给请求 {id} 腾出的块"),
    "whole-text": _T("the text of request {id}, read once more without a cache", "不用 cache 重读请求 {id} 的文本"),
    "counts": _T("how many tokens were computed, and how many found", "计算的和命中的 token 数"),
    "sample": _T("the text that was served", "服务写出的文本"),
    "day": _T("what was served in all", "服务的总量"),
}
REASONS: Mapping[str, _T] = {
    "exception": _T("raised {said}", "抛出 {said}"),
    "timeout": _T("did not come to an end within its {seconds:g} s", "{seconds:g} 秒内没有结束"),
    "memory": _T("took more than its {mib} MiB", "占用超过 {mib} MiB"),
    "exited": _T("ended the engine's process", "结束了引擎的进程"),
    "crashed": _T("crashed the engine's process", "使引擎的进程崩溃"),
    "output": _T("printed without end", "打印个没完"),
    "refused": _T("tried what no piece may", "做了零件不许做的事"),
    "protocol": _T("spoiled the engine's log", "弄坏了引擎的记录"),
    "too-large": _T("filled the engine's log", "撑满了引擎的记录"),
}
STANDING: Mapping[str, _T] = {
    "right": _T("runs right", "正常"),
    "broken": _T("BREAKS IT", "出错"),
    "reference": _T("-", "-"),
}
HEAD = _T("rung|piece|whose|used|in the engine", "环节|零件|谁写的|调用|运行结果")
OWN = _T("your own", "自己")
NOT_OWN = _T("the reference", "参考解")
USED = _T("{count} ×", "{count} 次")
PROGRESS = _T("engine {number}: {pieces}", "第 {number} 台引擎：{pieces}")
ALL_REFERENCES = _T("references alone", "全部参考解")
SO_MANY_OWN = _T("{count} pieces of your own", "{count} 个自己的零件")
BEGIN = _T(
    "No piece is your own yet. Begin with the first: attn start {challenge}, then attn grade {challenge} FILE",
    "还没有自己的零件。从第一个开始：attn start {challenge}，再 attn grade {challenge} FILE",
)
NEXT = _T(
    "{own} of {total} pieces are your own; next: attn start {challenge}",
    "{total} 个零件中自己写的有 {own} 个；下一个：attn start {challenge}",
)
COMPLETE = _T(
    "All {total} pieces are your own: a language model and its engine.",
    "{total} 个零件全是自己写的：一个语言模型连同它的引擎。",
)
TRAINED = _T("Trained: the loss went from {first:.2f} to {last:.2f}.", "训练：损失从 {first:.2f} 降到 {last:.2f}。")
SERVED = _T(
    "Served: {generated} tokens for {computed} computed ones; {found} came out of the prefix cache.",
    "服务：生成 {generated} 个 token，计算了 {computed} 个，另有 {found} 个取自前缀缓存。",
)
SAMPLE = _T("It wrote: {text}", "写出的文本：{text}")
IN_THEIR_PLACE = _T("With references in their place:", "换回参考解之后：")
BREAKS = _T("{pieces}: {where}", "{pieces}：{where}")
TOGETHER = _T("{pieces} (each right alone, wrong together): {where}", "{pieces}（单独都正常，放在一起才出错）：{where}")
AT = _T("{part}: {place}", "{part}：{place}")
BETWEEN = _T(", ", "、")
RUNS = _T("The engine runs right.", "引擎运行正常。")
FAILED = _T(
    "the engine does not run right, broken by {pieces}; attn grade {first} FILE says more, or try a file with "
    "attn ladder --piece {first}=FILE",
    "引擎运行不正常，出错的是 {pieces}；可用 attn grade {first} FILE 细看，或用 attn ladder --piece {first}=FILE "
    "换一个文件再试",
)
