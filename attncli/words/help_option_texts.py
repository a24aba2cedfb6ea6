"""What `--help` says of each option; see `help_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

OPTION_HELP: tuple[_T, ...] = (
    # Everywhere
    _T(
        "The learner's folder (default: $ATTN_HOME, else the user data folder).",
        "学习者的数据目录（默认：$ATTN_HOME，否则为用户数据目录）。",
    ),
    _T("Language of cards and output.", "卡片和输出的语言。"),
    _T("Full tracebacks, and a log.", "显示完整的错误追踪，并写日志。"),
    _T("The version.", "显示版本号。"),
    _T("Show this message and exit.", "显示本帮助。"),
    _T("Print one JSON document.", "打印一个 JSON 文档。"),
    _T("As if it were then, with offset (default: now).", "当作在那个时刻，须带时区偏移（默认：现在）。"),
    # Cards and reviews
    _T("Only cards of this topic.", "只要这个主题的卡片。"),
    _T("Only cards of this kind.", "只要这种题型的卡片。"),
    _T(
        "Only cards of this level (default: the setting level).",
        "只要这个面试级别的卡片（默认：设置 level）。",
    ),
    _T(
        "Only cards up to this level (default: the setting level).",
        "只要不超过这个面试级别的卡片（默认：设置 level）。",
    ),
    _T(
        "Only weak cards, the weakest first: likely forgotten, lapsed or missed.",
        "只要薄弱的卡片，最薄弱的在前：很可能想不起来、忘记过或没答出。",
    ),
    _T("At most this many.", "最多这么多张。"),
    _T("At most this many answers.", "最多作答这么多次。"),
    _T("Record nothing: answers are no reviews.", "不留记录：作答不算复习。"),
    _T("Line by line, for screen readers and dumb terminals.", "逐行问答，适合屏幕阅读器和简易终端。"),
    _T("Draw the same quiz again.", "再抽到同一份测验。"),
    _T("Draw the same interview again.", "再抽到同一场面试。"),
    _T("How long it takes; a repair round from 25 on.", "总时长（分钟）；25 分钟起有排错环节。"),
    _T(
        "Which interview (default: the setting level, onsite where that is any).",
        "哪一级面试（默认：设置 level；它为 any 时用 onsite）。",
    ),
    _T(
        "Somebody beside you sees the points at once, and ticks them.",
        "身边有人当面试官：要点立即可见，由他勾选。",
    ),
    _T("In this language; with --json, in this one only.", "用这种语言；加 --json 时只有这种语言。"),
    _T(
        "The day of the interview (default: the setting interview).",
        "面试日期（默认：设置 interview）。",
    ),
    _T(
        "Minutes a day (default: the setting minutes_per_day).",
        "每天多少分钟（默认：设置 minutes_per_day）。",
    ),
    _T("What it asks.", "问题。"),
    _T("What is right.", "答案。"),
    # Progress, export, import
    _T("The new file (default: attn-DATE-TIME.jsonl here).", "新文件（默认：当前目录下的 attn-DATE-TIME.jsonl）。"),
    _T("Make the cache anew from the history and the banks.", "由学习记录和题库重新生成缓存。"),
    _T("Where to write: a file such as DECK.apkg.", "写到哪里：例如 DECK.apkg。"),
    _T("Where to write (default: stdout).", "写到哪里（默认：标准输出）。"),
    _T("The cards of one topic.", "只导出一个主题的卡片。"),
    _T("Which languages (default: both).", "用哪些语言（默认：both，两种都要）。"),
    _T("Default: by FILE's ending, else md.", "格式；默认看文件的后缀，否则为 md。"),
    _T("Language of the summary.", "总结的语言。"),
    _T(
        "The day to forecast recall for (default: the setting interview).",
        "预测哪一天的回忆率（默认：设置 interview）。",
    ),
    _T("Say what is in it, and write nothing.", "只说明里面有什么，不写入。"),
    # Challenges
    _T("Only challenges of this track.", "只要这个系列的编程题。"),
    _T("Where to write it (default: your solutions).", "写到哪里（默认：自己的解答目录）。"),
    _T(
        "A wrong solution to debug instead of an empty starter.",
        "写出一份有错的解答供调试，而不是空的起始文件。",
    ),
    _T(
        "The reference with N bugs to find and mend, 1 to 4.",
        "给一份有 N 处错误的参考解，找出并改正，1 到 4 处。",
    ),
    _T(
        "With --repair: the round of this number, not the next one.",
        "与 --repair 同用：指定第几轮，而不是下一轮。",
    ),
    _T(
        "Keep an existing file as a numbered copy and write anew.",
        "已有文件另存为带编号的副本，再重新写出。",
    ),
    _T("Grade again whenever the file is saved.", "每次保存文件都重新评测。"),
    _T("Inputs for matches-reference.", "matches-reference 用多少组输入。"),
    _T("Another stream of inputs: a fresh exam.", "换一批输入：重新考一次。"),
    _T("The stream of inputs (default: drawn, then kept).", "输入批次（默认随机抽取，之后沿用）。"),
    _T(
        "Seconds for one run of your code (ten times that for all).",
        "代码单次运行限时多少秒（总共限时十倍）。",
    ),
    _T("MiB for your code.", "代码限用多少 MiB 内存。"),
    _T(
        "What is asked for: solved (the whiteboard) or hardened (production).",
        "要求达到的级别：solved（白板面试）或 hardened（生产环境）。",
    ),
    _T("Where your code runs: auto takes a GPU that helps.", "代码在哪里运行：auto 在有 GPU 且有用处时用它。"),
    _T("Where the files run.", "文件在哪里运行。"),
    _T("Do not count this as an attempt.", "不算作一次作答。"),
    _T("Judges at work at once (default: the cores).", "同时评测多少份（默认：CPU 核数）。"),
    _T("Grade on this Ray cluster: HOST:PORT.", "在这个 Ray 集群上评测：HOST:PORT。"),
    _T("Workers of the cluster may lack sandbox layers.", "允许集群的工作节点缺少几层沙箱。"),
    _T("A .html, .csv or .json file.", "报告文件：.html、.csv 或 .json。"),
    _T(
        "Also tell how long it took: then no two reports are the same.",
        "也写明用时：这样每份报告都会不同。",
    ),
    _T("Seconds for one run.", "单次运行限时多少秒。"),
    _T("MiB for one submission.", "一份提交限用多少 MiB 内存。"),
    _T(
        "Put this file on the seat of a piece, whether it was graded or not; may be given several times.",
        "用这个文件充当一个部件，不论是否评测过；可以多次给出。",
    ),
    _T("Input streams to prove it on.", "用多少批输入来验证。"),
    # Experiments and doors
    _T("The short form: seconds, and one seed.", "简短版：只要几秒，一个种子。"),
    _T("Where to draw the plot (.svg).", "图画到哪里（.svg）。"),
    _T("Where to listen; 0 picks a free one.", "监听哪个端口；0 表示任选一个空闲的。"),
)
