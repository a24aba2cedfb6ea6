"""What can be wrong with challenges, their grading, banks, classes and experiments; see `error_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

CHALLENGES: tuple[_T, ...] = (
    _T("there is no challenge {id}", "没有编程题 {id}"),
    _T("`attn start CHALLENGE` writes one to begin with", "`attn start CHALLENGE` 写出起始文件"),
    _T("name the Python file to grade", "请给出要评测的 Python 文件"),
    _T("{file} is larger than {most} KiB", "{file} 超过 {most} KiB"),
    _T("a submission is a short Python file", "提交的应是一个不长的 Python 文件"),
    _T("challenge {id} has no hints", "编程题 {id} 没有提示"),
    _T("`attn solution {id}` shows the reference", "`attn solution {id}` 显示参考解"),
    _T("challenge {id} has no wrong solution to debug", "编程题 {id} 没有可供找错的解答"),
    _T("leave out --bug", "请去掉 --bug"),
    _T(
        "--force keeps it as a numbered copy, --dir names another folder",
        "--force 把它另存为带编号的副本，--dir 指定别的目录",
    ),
    _T(
        "--bug hands out one wrong solution and --repair a reference with N bugs",
        "--bug 给出一份有错的解答，--repair 给出有 N 处错误的参考解",
    ),
    _T("--seed chooses the bugs of a repair round", "--seed 用来选定排错的错误"),
    _T("give --repair N with it", "请同时给出 --repair N"),
    _T("challenge {id} has no repair round", "编程题 {id} 没有排错"),
    _T(
        "--bug hands out one wrong solution to debug, and these have rounds: {ids}",
        "--bug 可给出一份有错的解答来找错；有排错的题：{ids}",
    ),
    _T("a repair round of {id} has 1 to {most} bugs, not {count}", "{id} 的排错有 1 到 {most} 处错误，不能是 {count}"),
    _T("give --repair 1 to {most}", "--repair 请取 1 到 {most}"),
    _T("the reference of {id} takes no bugs ({reason})", "{id} 的参考解无法埋入错误（{reason}）"),
    _T("{name} names no challenge", "{name} 不是编程题的名称"),
    _T(
        "write TRACK/ID in lower-case letters, digits and single hyphens",
        "请写成 TRACK/ID，只用小写字母、数字和单个连字符",
    ),
    _T(
        "a card is called {id} already, and both are kept in one log",
        "已有卡片叫 {id}，而两者记在同一份记录里",
    ),
    _T(
        "{where} is a challenge called {id} already, and both are kept in one log",
        "{where} 已是名为 {id} 的编程题，而两者记在同一份记录里",
    ),
    _T("{path} is no Python ({reason})", "{path} 不是 Python 代码（{reason}）"),
    _T(
        "a grading with verdict {verdict} says nothing about the submission",
        "结论为 {verdict} 的评测不能说明提交的对错",
    ),
)

GRADING: tuple[_T, ...] = (
    _T("no NVIDIA GPU is visible here", "这台机器上看不到 NVIDIA GPU"),
    _T("PyTorch {version} is built without CUDA", "PyTorch {version} 不带 CUDA"),
    _T(
        "install a build with it (pytorch.org/get-started)",
        "请安装带 CUDA 的版本（见 pytorch.org/get-started）",
    ),
    _T(
        "use --device cpu: device placement is proved without one",
        "请用 --device cpu：张量放在哪个设备上，不用 GPU 也能验证",
    ),
    _T("--timeout is no number", "--timeout 不是数"),
    _T("give seconds, such as 10", "请给出秒数，例如 10"),
    _T(
        "--json prints one document and --watch one report after another",
        "--json 只打印一个文档，--watch 会接连打印报告",
    ),
    _T("grading needs PyTorch and it is not installed", "评测需要 PyTorch，还没有安装"),
    _T(
        "grading needs PyTorch, and this Python has none: install it with pip",
        "评测需要 PyTorch，而这个 Python 没有：请用 pip 安装",
    ),
    _T(
        "grading needs PyTorch, and this Python has none: install it with `pip install torch`",
        "评测需要 PyTorch，而这个 Python 没有：请用 `pip install torch` 安装",
    ),
    _T(
        "grading needs Linux, and this is {platform}: on Windows use WSL",
        "评测需要 Linux，而这里是 {platform}：Windows 上请用 WSL",
    ),
    _T("the judge died ({last})", "评测程序意外终止（{last}）"),
    _T("run attn doctor, then try again", "请运行 attn doctor 后重试"),
    _T("the judge does not know the request {request}", "评测程序不认识请求 {request}"),
    _T("{python} cannot be started for the sandbox: {reason}", "无法为沙箱启动 {python}：{reason}"),
    _T("the sandbox's self-test could not be set up: {error}", "无法准备沙箱自检：{error}"),
    _T("the sandbox's self-test ended early: {error}", "沙箱自检提前结束：{error}"),
    _T("a sandboxed process could not be set up: {error}", "无法准备沙箱进程：{error}"),
    _T(
        "the sandbox's process cannot go on: {error} (attn doctor says more)",
        "沙箱进程无法继续：{error}（详见 attn doctor）",
    ),
    _T(
        "inside the sandbox Python does not work here ({layers}): see attn doctor",
        "沙箱里的 Python 在这里无法工作（{layers}）：详见 attn doctor",
    ),
    _T(
        'make.keep knows the dtypes "follow" and "fixed", not "{dtype}"',
        'make.keep 只认识 dtype "follow" 和 "fixed"，不认识 "{dtype}"',
    ),
    _T("mend inputs.py", "请改正 inputs.py"),
    _T('AXES says nothing of "{name}"', 'AXES 没有说明 "{name}"'),
    _T("add it to inputs.py", "请把它加到 inputs.py"),
    _T("{place}: there is no fact {name}", "{place}：没有名为 {name} 的约定"),
    _T("a constant of its own starts with an underscore", "自用的常量以下划线开头"),
    _T("{path}: the challenge's own file cannot be loaded ({reason})", "{path}：无法载入编程题自带的文件（{reason}）"),
    _T(
        "kernels are graded in Triton's interpreter, which does not run here ({reason})",
        "kernel 用 Triton 的解释器评测，而它在这里无法运行（{reason}）",
    ),
    _T("pip install 'attncli[kernels]' (Linux)", "请运行 pip install 'attncli[kernels]'（Linux）"),
    _T("{path}: this wrong solution cannot be read ({reason})", "{path}：无法读取这份错误解答（{reason}）"),
    _T(
        "make.count takes a make.callable: calls of a make.function are not seen",
        "make.count 只接受 make.callable：看不到 make.function 的调用",
    ),
)

BANKS: tuple[_T, ...] = (
    _T(
        "{problem}; `attn verify {id}` tells every fault of the challenge",
        "{problem}；`attn verify {id}` 列出这道题的所有错误",
    ),
    _T("give a bank file or a folder of them", "请给出题库文件或存放题库的目录"),
    _T("{path} has no .yaml files", "{path} 中没有 .yaml 文件"),
    _T("{count} problem in {files} file", "{files} 个文件中有 {count} 处问题"),
    _T("{count} problems in {files} file", "{files} 个文件中有 {count} 处问题"),
    _T("{count} problems in {files} files", "{files} 个文件中有 {count} 处问题"),
    _T("correct them and run attn bank check again", "请改正后重新运行 attn bank check"),
    _T(
        "{count} problem in the files of challenges, and nothing was run",
        "编程题的文件中有 {count} 处问题，什么都没有运行",
    ),
    _T(
        "{count} problems in the files of challenges, and nothing was run",
        "编程题的文件中有 {count} 处问题，什么都没有运行",
    ),
    _T("correct them and run attn verify again", "请改正后重新运行 attn verify"),
    _T(
        "{failing} of {count} challenges do not hold: {ids}",
        "{count} 道编程题中有 {failing} 道没有通过验证：{ids}",
    ),
)

CLASSES: tuple[_T, ...] = (
    _T("copy the class to a folder that you may write to", "请把班级的文件复制到可写的目录"),
    _T("a class lies in folders: DIR/LEARNER/CHALLENGE.py", "班级的文件应这样放：DIR/LEARNER/CHALLENGE.py"),
    _T("there is nothing to grade in {folder}", "{folder} 中没有可评测的文件"),
    _T(
        "there is nothing to grade in {folder} ({path}: {why}, the first of {count})",
        "{folder} 中没有可评测的文件（{path}：{why}，共 {count} 处，这是第一处）",
    ),
    _T("the grading was stopped", "评测已停止"),
    _T("--ray {address} names no cluster that is there already", "--ray {address} 不是已有的集群"),
    _T("give HOST:PORT, or auto for one on this machine", "请给出 HOST:PORT，本机的集群写 auto"),
    _T("--ray needs Ray: {command}", "--ray 需要 Ray：{command}"),
    _T("a worker failed: {error}", "有工作节点出错：{error}"),
    _T("there is no Ray cluster to be had at {address} ({reason})", "{address} 没有可用的 Ray 集群（{reason}）"),
    _T("`ray status` says whether it runs", "可用 `ray status` 查看它是否在运行"),
    _T("a worker has other versions ({differs})", "有工作节点的版本不同（{differs}）"),
    _T("install the same on every machine", "请在每台机器上安装相同的版本"),
    _T(
        "a worker lacks layers of the sandbox ({layers}), and submissions are anybody's code",
        "有工作节点缺少几层沙箱（{layers}），而提交的可能是任何人的代码",
    ),
    _T("--allow-weak-sandbox grades there all the same", "--allow-weak-sandbox 允许照样在那里评测"),
    _T(
        "the cluster at {address} gives no worker with 1 CPU and {memory} MiB free",
        "{address} 的集群没有空闲 1 个 CPU 和 {memory} MiB 内存的工作节点",
    ),
    _T("`ray status` says what it has", "`ray status` 显示它有什么"),
    _T("--memory asks for less", "用 --memory 可以少要一些"),
    _T("a worker cannot start a judge ({reason})", "有工作节点无法启动评测程序（{reason}）"),
    _T(
        "install attncli[cluster] {version} on every machine of the cluster",
        "请在集群的每台机器上安装 attncli[cluster] {version}",
    ),
    _T(
        "{path} is not your own file: results in it may be anybody's",
        "{path} 不是你自己的文件：里面的结果可能是任何人写的",
    ),
    _T("remove it and try again", "请删除它后重试"),
    _T("another attn cohort grades {folder} already", "另一个 attn cohort 正在评测 {folder}"),
    _T("wait for it, or stop it first", "请等它结束，或先停止它"),
    _T("cannot read the challenge {id} ({reason})", "无法读取编程题 {id}（{reason}）"),
    _T(
        "no verdict on {count} files, the first {file}: {error}; the same command tries these again",
        "有 {count} 个文件没有结论，第一个是 {file}：{error}；再次运行同一命令会重试它们",
    ),
    _T("{output} ends in none of {endings}", "{output} 的后缀不是其中之一：{endings}"),
)

EXPERIMENTS: tuple[_T, ...] = (
    _T("there is no experiment {id}", "没有实验 {id}"),
    _T("`attn experiment` lists them", "`attn experiment` 列出全部"),
    _T("which experiment? `attn experiment` lists them", "要运行哪个实验？`attn experiment` 列出全部"),
    _T("name one: attn experiment ID", "请给出一个：attn experiment ID"),
    _T("{output} is no .svg file, and plots are drawn as SVG alone", "{output} 不是 .svg 文件，而图只画成 SVG"),
    _T("name one such as plot.svg", "请写成 plot.svg 这样的名称"),
    _T("{id} looks at no text", "{id} 不看文字"),
    _T("leave it out, or give it to attn experiment attention-map", "请去掉文字，或用于 attn experiment attention-map"),
    _T("the text is empty", "文字是空的"),
    _T('name one: attn experiment {id} "{text}"', '请给出文字：attn experiment {id} "{text}"'),
    _T(
        "the text has {count} characters, and {most} have room on a map",
        "文字有 {count} 个字符，而图上只放得下 {most} 个",
    ),
    _T("name a shorter one", "请给短一些的"),
    _T("{id}: the claim did not show: {checks}", "{id}：结论没有得到印证：{checks}"),
    _T("the table above has what was seen", "观察到的结果见上表"),
    _T("{path} is no experiment ({reason})", "{path} 不是实验（{reason}）"),
    _T("it must set {names}", "它必须设定 {names}"),
    _T("experiment {id} needs PyTorch and it is not installed", "实验 {id} 需要 PyTorch，还没有安装"),
    _T("experiment {id} checked other things in other seeds", "实验 {id} 用不同种子检查了不同的内容"),
    _T("it must not", "不应如此"),
    _T("experiment {id} cannot be started ({program}: {reason})", "无法启动实验 {id}（{program}：{reason}）"),
    _T("experiment {id} told more than {most} MiB", "实验 {id} 报告的内容超过 {most} MiB"),
    _T("experiment {id} returned no usable result: {error}", "实验 {id} 没有返回可用的结果：{error}"),
    _T("experiment {id} stopped telling before it had ended", "实验 {id} 在结束之前停止了报告"),
    _T(
        "experiment {id} was killed by signal {signal} before it had a result",
        "实验 {id} 得出结果之前被信号 {signal} 终止",
    ),
    _T(
        "experiment {id} was killed by signal {signal} before it had a result ({said})",
        "实验 {id} 得出结果之前被信号 {signal} 终止（{said}）",
    ),
    _T(
        "experiment {id} ended with status {status} before it had a result",
        "实验 {id} 得出结果之前以状态 {status} 结束",
    ),
    _T(
        "experiment {id} ended with status {status} before it had a result ({said})",
        "实验 {id} 得出结果之前以状态 {status} 结束（{said}）",
    ),
    _T("run it again", "请再运行一次"),
    _T("experiment {said}", "实验 {said}"),
    _T("the engine has no seat for {id}", "引擎里没有 {id} 的位置"),
    _T("its pieces are {ids}", "它的部件有：{ids}"),
    _T("--piece {word} names no file", "--piece {word} 没有给出文件"),
    _T("write it as --piece rope=rope.py", "请写成 --piece rope=rope.py"),
    _T("the engine stops with references alone ({reason})", "只用参考解时引擎也停下了（{reason}）"),
    _T("the engine cannot be read ({reason})", "无法读取引擎（{reason}）"),
)
