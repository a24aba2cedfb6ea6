"""The judge's messages, in English and in Chinese.

They are composed where they arise and travel with the report, so they are here and not in `words/`. A part of a message
may itself be in both languages. Text of the learner's code is quoted as it is.
"""

from __future__ import annotations

from attncli.domain.text import Localised
from attncli.domain.text import Localised as _T


def say(key: str, **parts: object) -> Localised:
    """Return the message of this name with its parts filled in."""
    return SENTENCES[key].format(**parts)


SENTENCES: dict[str, Localised] = {
    # Comparison
    "largest-error": _T(
        "largest error {error} at {at}; tolerance {tolerance}{place}",
        "最大误差 {error}，位于 {at}；容差 {tolerance}{place}",
    ),
    "digits-lost": _T(
        "float64 lost digits ({fault}): computed in float32?", "丢了 float64 的精度（{fault}）：是不是用 float32 算的？"
    ),
    "other-shape": _T("shape {got} where {due} was expected{place}", "形状为 {got}，应为 {due}{place}"),
    "other-dtype": _T("dtype {got} where {due} was expected{place}", "dtype 为 {got}，应为 {due}{place}"),
    "other-device": _T("made on device {got} where {due} was expected{place}", "建在 {got} 上，应在 {due} 上{place}"),
    "other-form": _T("returned {got} where {due} was expected{place}", "返回了 {got}，应为 {due}{place}"),
    "other-entries": _T(
        "{count} of {all} entries differ, the first at {at}{place}",
        "{all} 个元素中有 {count} 个不同，第一个位于 {at}{place}",
    ),
    "other-bits": _T("{got} at {at} where exactly {due} was expected{place}", "{at} 处为 {got}，应恰为 {due}{place}"),
    "so-many-differ": _T("; {count} of {all} entries differ", "；{all} 个元素中有 {count} 个不同"),
    "other-value": _T("{got} at {at} where {due} was expected{place}", "{at} 处为 {got}，应为 {due}{place}"),
    "other-exception": _T("raised {got} where {due} was due", "抛出了 {got}，应抛出 {due}"),
    "no-exception": _T("returned {got} where {due} was to be raised", "应抛出 {due}，却返回了：{got}"),
    "missing-result": _T("a result is missing", "缺少一个返回值"),
    "in-result": _T(" in result{path}", "，在 result{path}"),
    "changed-object": _T(" (the object changed in place)", "（被原地改动的对象）"),
    "calls-of-callable": _T(" (calls of the callable)", "（对传入函数的调用）"),
    "call-of-many": _T(" ({name}, call {number} of {count})", "（{name}，第 {number} 次调用，共 {count} 次）"),
    "a-tensor": _T("a {dtype} tensor of shape {shape}", "形状 {shape} 的 {dtype} 张量"),
    "an-object": _T("an object of type {name}", "类型为 {name} 的对象"),
    "a-sequence": _T("a {kind} of {count}", "含 {count} 项的 {kind}"),
    "a-dict": _T("a dict with keys {keys}", "键为 {keys} 的 dict"),
    # Gradients, devices, properties
    "gradient-of": _T("gradient of {name}: {fault}", "{name} 的梯度：{fault}"),
    "on-the-cpu": _T(
        "on the CPU, but another device was given: make tensors with device=x.device or device=device",
        "给的是其他设备，却返回了 CPU 张量：创建张量时请写 device=x.device 或 device=device",
    ),
    "not-on-the-default": _T(
        "returned a tensor on the CPU although torch's default device is another one: pass device=None on as it is",
        "torch 的默认设备不是 CPU，却返回了 CPU 张量：device=None 请原样传下去",
    ),
    "only-interpreted": _T(
        "not checked on a GPU: only Triton's interpreter sees the bytes that a kernel moves (--device cpu)",
        "在 GPU 上未检查：只有 Triton 的解释器能看到 kernel 读写了多少字节（用 --device cpu）",
    ),
    "gpu-unusable": _T("run on the CPU, since the GPU cannot be used: {why}", "GPU 不可用，改在 CPU 上运行：{why}"),
    "interpreted-too": _T(
        "compiled on the GPU, and run in Triton's interpreter on the CPU as well, which looks at each load and store",
        "在 GPU 上编译运行，又在 CPU 上用 Triton 的解释器运行，逐个检查了读写",
    ),
    "interpreter-objects": _T(
        "the GPU objects to less: this is from Triton's interpreter on the CPU, which looks at each load and store",
        "GPU 上发现的问题较少：这些是 CPU 上 Triton 的解释器发现的，它逐个检查读写",
    ),
    "no-proof-of-device": _T("cannot be proved for this solution without a GPU", "没有 GPU，无法验证这份解答"),
    "fails-on-another-device": _T(
        "runs on the CPU and not on another device, where its inputs may be just as well: {fault}",
        "只能在 CPU 上运行，输入在其他设备上时就会失败：{fault}",
    ),
    "wrong-at-size": _T(
        "at size {size}, where its cost is measured, the result is wrong: {fault}",
        "测量开销时（规模 {size}）结果不对：{fault}",
    ),
    "other-form-of-result": _T(
        "the result has not the form that was asked for ({error})", "结果不是所要求的形式（{error}）"
    ),
    # Purity
    "mutated-argument": _T("changed its argument {name} in place", "原地修改了参数 {name}"),
    "mutated-container": _T("changed a dict or list that was passed to {name}", "修改了传给 {name} 的字典或列表"),
    "aliased-argument": _T("the result of {name} shares memory with an argument", "{name} 的返回值与参数共享内存"),
    "aliased-state": _T(
        "what {name} keeps for later calls shares memory with an argument", "{name} 留给之后调用的状态与参数共享内存"
    ),
    "aliased-earlier": _T(
        "the result of {name} shares memory with what an earlier call returned",
        "{name} 的返回值与之前某次调用的返回值共享内存",
    ),
    "aliased-objects": _T("two objects made by {name} share memory", "{name} 创建的两个对象共享内存"),
    "left-in-module": _T("a call of {name} leaves something in its module", "调用 {name} 在模块里留下了东西"),
    "seeds-global": _T(
        "{name} seeds torch's global generator, which belongs to the caller",
        "{name} 给 torch 的全局随机数生成器设了种子，而它属于调用者",
    ),
    "draws-global": _T(
        "{name} draws from torch's global generator, although it is given one",
        "{name} 已经拿到生成器，却仍从 torch 的全局随机数生成器取数",
    ),
    "default-dtype-changed": _T(
        "{name} changes torch's default dtype and leaves it so, for all code that runs later",
        "{name} 改了 torch 的默认 dtype 却没有改回来，之后的代码都受影响",
    ),
    "autograd-switched": _T(
        "{name} switches autograd on or off and leaves it so, for all code that runs later",
        "{name} 开关了 autograd 却没有恢复，之后的代码都受影响",
    ),
    "changed-later": _T("what {name} returned was changed by a later call", "{name} 返回的值被之后的调用改动了"),
    "state-on-graph": _T(
        "what is kept between calls hangs on the graph of autograd: use torch.no_grad()",
        "调用之间保留的状态挂在 autograd 计算图上：请用 torch.no_grad()",
    ),
    "result-on-graph": _T(
        "the result of {name} hangs on the graph of autograd: use torch.no_grad()",
        "{name} 的返回值挂在 autograd 计算图上：请用 torch.no_grad()",
    ),
    "answers-from-memory": _T(
        "answers for what its arguments held before they were changed in place",
        "参数被原地改动之后，返回的仍是按旧值算出的结果",
    ),
    "another-answer": _T("gave another answer for the same input ({fault})", "相同输入得到了不同的结果（{fault}）"),
    "another-answer-when-fresh": _T(
        "gives another answer in a fresh process than after other calls ({fault})",
        "在新进程中与在其他调用之后得到不同的结果（{fault}）",
    ),
    "only-after-other-calls": _T("fails only after other calls: {fault}", "仅在其他调用之后出错：{fault}"),
    "only-together": _T(
        "{fault}; by itself this call is right: the ones before it change its answer",
        "{fault}；单独调用时结果正确，是前面的调用改变了它",
    ),
    "kept-counterexample": _T("the stored counterexample: {fault}", "上次保存的反例：{fault}"),
    # The file and its process
    "no-entry-point": _T(
        "the file does not define {names}; keep the name that was asked for",
        "文件没有定义 {names}；请保留题目要求的名字",
    ),
    "does-not-parse": _T("SyntaxError: {error}", "SyntaxError：{error}"),
    "at-line": _T("line {line}: {error}", "第 {line} 行：{error}"),
    "not-parsed": _T("the file cannot be parsed ({error})", "文件无法解析（{error}）"),
    "nests-too-deeply": _T("the file nests too deeply to be read", "文件嵌套过深，无法读取"),
    "raised-at": _T("{error} (line {line}: {code})", "{error}（第 {line} 行：{code}）"),
    "raised-in": _T("{error} ({place})", "{error}（{place}）"),
    # Kernels
    "load-outside": _T(
        "program {program} of the grid loads element {index} of {tensor}, which has {count} (line {line}: {code})",
        "网格的 program {program} 读取 {tensor} 的第 {index} 个元素，而它只有 {count} 个（第 {line} 行：{code}）",
    ),
    "store-outside": _T(
        "program {program} of the grid stores to element {index} of {tensor}, which has {count} (line {line}: {code})",
        "网格的 program {program} 写入 {tensor} 的第 {index} 个元素，而它只有 {count} 个（第 {line} 行：{code}）",
    ),
    "load-between": _T(
        "program {program} of the grid loads memory between the elements of {tensor}, which is a view with strides "
        "(line {line}: {code})",
        "网格的 program {program} 读到了 {tensor} 的元素之间：它是带 stride 的视图（第 {line} 行：{code}）",
    ),
    "store-between": _T(
        "program {program} of the grid stores between the elements of {tensor}, which is a view with strides "
        "(line {line}: {code})",
        "网格的 program {program} 写到了 {tensor} 的元素之间：它是带 stride 的视图（第 {line} 行：{code}）",
    ),
    "store-twice": _T(
        "programs {other} and {program} of the grid both store to element {index} of {tensor}; they run in no order "
        "(line {line}: {code})",
        "网格的 program {other} 和 {program} 都写了 {tensor} 的第 {index} 个元素，而它们没有先后之分"
        "（第 {line} 行：{code}）",
    ),
    "load-after-store": _T(
        "program {program} of the grid loads element {index} of {tensor}, which another program stores to; they run in "
        "no order (line {line}: {code})",
        "网格的 program {program} 读取 {tensor} 的第 {index} 个元素，而另一个 program 会写它；它们没有先后之分"
        "（第 {line} 行：{code}）",
    ),
    "store-after-load": _T(
        "program {program} of the grid stores to element {index} of {tensor}, which another program loads; they run in "
        "no order (line {line}: {code})",
        "网格的 program {program} 写入 {tensor} 的第 {index} 个元素，而另一个 program 会读它；它们没有先后之分"
        "（第 {line} 行：{code}）",
    ),
    "belongs-in-a-kernel": _T(
        "line {line}: {name} computes outside of the kernel; torch may only make, view and copy tensors here",
        "第 {line} 行：{name} 是在 kernel 之外计算；这里 torch 只能用来新建、变形和复制张量",
    ),
    "no-kernel-launched": _T(
        "no Triton kernel was launched: write one and launch it as kernel[grid](...)",
        "没有启动任何 Triton kernel：写一个 kernel，并用 kernel[grid](...) 启动",
    ),
    "in-a-call": _T("in a call of {names}", "在调用 {names} 时"),
    "in-a-program": _T("while it was used", "在使用时"),
    "while-read": _T("while it was read", "在读取时"),
    "while-loaded": _T("while it was loaded", "在加载时"),
    "still-running": _T("still running after {seconds} s {place}", "运行 {seconds} 秒后仍未结束，{place}"),
    "all-too-slow": _T(
        "all calls together have taken {seconds} s (the last one {place})",
        "所有调用合计已用 {seconds} 秒（最后一次{place}）",
    ),
    "more-memory": _T("{said}", "需要超过 {mib} MiB 内存"),
    "killed-loaded": _T("{said}", "加载时被 {signal} 终止"),
    "killed-called": _T("{said}", "调用时被 {signal} 终止"),
    "no-result": _T("sent something that is not a result ({error})", "发来的不是结果（{error}）"),
    "cannot-be-judged": _T("returned something that cannot be judged ({error})", "返回的内容无法评判（{error}）"),
    "judged-too-long": _T(
        "returned something that takes more than {seconds} s to be judged", "返回的内容评判起来要超过 {seconds} 秒"
    ),
    "judged-too-large": _T(
        "returned something that takes more than {mib} MiB to be judged", "返回的内容评判起来需要超过 {mib} MiB 内存"
    ),
    "unusable-call": _T("this call cannot be answered ({error})", "无法响应这次调用（{error}）"),
    "too-many-calls": _T(
        "called the functions that it was given more than {count} times", "对传入函数的调用超过 {count} 次"
    ),
    "tried": _T("tried {names}: a submission may compute, and nothing else", "尝试了 {names}：提交的代码只能做计算"),
    # Source and signatures
    "import-not-allowed": _T(
        "line {line}: imports {module}; only {allowed} may be imported",
        "第 {line} 行：导入了 {module}；只能导入 {allowed}",
    ),
    "out-of-bounds": _T(
        "line {line}: {name} is out of bounds in a submission", "第 {line} 行：提交的代码里不能使用 {name}"
    ),
    "forbidden-call": _T(
        "line {line}: {name} is not allowed here: it is what this challenge asks you to write",
        "第 {line} 行：这里不能使用 {name}，它正是本题要你写的",
    ),
    "too-few-parameters": _T(
        "{name} takes {count} parameters where {asked} is called", "{name} 只有 {count} 个参数，而调用是 {asked}"
    ),
    "other-parameter-name": _T(
        "parameter {number} of {name} is called {got} where {asked} says {due}",
        "{name} 的第 {number} 个参数叫 {got}，而 {asked} 里叫 {due}",
    ),
    "more-required-parameters": _T(
        "{name} has more required parameters than {asked}", "{name} 的必填参数比 {asked} 多"
    ),
    "other-keywords": _T("{name} has other keyword parameters than {asked}", "{name} 的关键字参数与 {asked} 不同"),
    # Patterns in the answers
    "the-result": _T("The result", "结果"),
    "part-of-the-result": _T("Part {part} of the result", "结果的 {part} 部分"),
    "transposed": _T(
        "{what} has two axes swapped: {first} and {second}.", "{what}有两个轴互换了：{first} 与 {second}。"
    ),
    "one-late": _T(
        "{what} is off by one along {axis}: each position holds what belongs to the one before it.",
        "{what}沿 {axis} 错开了一位：每个位置放的是前一个位置的值。",
    ),
    "one-early": _T(
        "{what} is off by one along {axis}: each position holds what belongs to the one after it.",
        "{what}沿 {axis} 错开了一位：每个位置放的是后一个位置的值。",
    ),
    "sign-flipped": _T("{what} has the opposite sign everywhere.", "{what}处处正负号相反。"),
    "scaled": _T("{what} is {factor} times what is due, everywhere.", "{what}处处是正确值的 {factor} 倍。"),
    "too-large-by": _T("{what} is too large by {amount}, everywhere.", "{what}处处比正确值大 {amount}。"),
    "too-small-by": _T("{what} is too small by {amount}, everywhere.", "{what}处处比正确值小 {amount}。"),
    "one-place-wrong": _T(
        "{what} is wrong at {place} alone; everywhere else it is right.", "{what}只有 {place} 处不对，其余全对。"
    ),
    "digits-of": _T(
        "{what} is right, but has only the digits of {dtype}: it was rounded to that on the way.",
        "{what}本身是对的，但只有 {dtype} 的精度：中途被舍入成了 {dtype}。",
    ),
    "inputs-rounded": _T(
        "{what} is right for inputs rounded to {dtype}: they are cast to it before anything is computed.",
        "把输入舍入到 {dtype} 之后，{what}就完全一致：计算之前输入被转成了 {dtype}。",
    ),
    # Cases that the learner types
    "while-typed": _T("in the case that you typed", "在你输入的用例里"),
    "typed-refused": _T("a case may compute, and nothing else: it tried {names}", "用例只能做计算，不能用 {names}"),
    "typed-too-large": _T(
        "a case has up to {calls} calls and {numbers} numbers; make it smaller",
        "一个用例最多 {calls} 次调用、{numbers} 个数，请改小",
    ),
    "typed-unfit": _T(
        "{name} does not take these arguments: {error}; it has {known}",
        "{name} 的参数不对：{error}；它的参数是 {known}",
    ),
    "typed-not-allowed": _T(
        "{value} cannot be passed; numbers, texts, lists, dicts, torch.tensor([...]) and torch.randn(2, 3) can",
        "不能传入 {value}；可以传数字、字符串、列表、字典、torch.tensor([...])、torch.randn(2, 3)",
    ),
    "typed-no-call": _T("nothing is called; type the arguments of {names}", "没有调用；请输入 {names} 的参数"),
    "typed-module": _T(
        "{name} is a module with weights of its own, drawn at random: no case can be typed for it",
        "{name} 是带随机初始权重的模块，不能自己输入用例",
    ),
    "typed-other-rank": _T(
        "{argument} has {got} dimensions; the challenge has it as ({axes})",
        "{argument} 有 {got} 维；题目里它是 ({axes})",
    ),
    "typed-other-size": _T(
        "{axis} is {got} in {argument} and {due} in {other}; the challenge has them equal",
        "{axis} 在 {argument} 里是 {got}，在 {other} 里是 {due}；题目里两者相等",
    ),
    "typed-unfit-size": _T(
        "{axis} is {got} in {argument}; in the challenge {axis} = {says}",
        "{argument} 里 {axis} 是 {got}；题目里 {axis} = {says}",
    ),
    "typed-other-choice": _T(
        "{argument} is {got}; it is one of {choices}", "{argument} 是 {got}；只能是 {choices} 之一"
    ),
    "typed-no-tensor": _T(
        "{argument} is no tensor; the challenge has one there", "{argument} 不是张量；题目里它是张量"
    ),
    "reference-raises": _T("the reference answers such arguments with {name}", "参考解对这样的参数抛出 {name}"),
    "reference-too-slow": _T(
        "the reference needs too long or too much memory for this case; make it smaller",
        "参考解算这个用例太慢或太占内存，请改小",
    ),
    "typed-same": _T("both answers are the same", "两个答案一致"),
    "typed-random": _T(
        "this technique draws at random: two answers may differ and both be right",
        "本题带有随机性：两个答案不同，也可能都对",
    ),
    # The course of a grading
    "needs": _T("needs {check}", "需先通过 {check}"),
    "needs-first-rung": _T("comes once the file is solved", "先解出来，再检查这一项"),
    "not-measured": _T("not measured", "未测量"),
    "milliseconds-by-events": _T(
        "{ms} ms on the device, by its own events", "在设备上用时 {ms} 毫秒（由设备事件计时）"
    ),
    "milliseconds": _T("{ms} ms a call, the way between the processes included", "每次调用 {ms} 毫秒（含进程间传输）"),
}
