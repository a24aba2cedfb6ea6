"""What `--help` says of each command, paragraph by paragraph; the English stands with the command as well.

A test holds the two to each other. Loaded when help is asked for in Chinese, and by nothing else.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

COMMAND_HELP: tuple[_T, ...] = (
    _T(
        "Get ready for Transformer and LLM interviews: cards on a schedule, code that is graded.",
        "准备 Transformer 与大语言模型面试：卡片按时复习，代码自动评测。",
    ),
    _T("Without a command the app opens.", "不带命令时打开应用。"),
    # Cards and reviews
    _T(
        "Record one review of CARD. It is on disk once the new schedule is printed.",
        "记录对 CARD 的一次复习。打印出新的复习安排时，已经写入磁盘。",
    ),
    _T("Take CARD out of the queue for today.", "把 CARD 推迟到明天。"),
    _T("Take CARD out of the queue for good.", "搁置 CARD，不再出题。"),
    _T("Put a suspended or buried CARD back into the queue.", "让搁置或推迟的 CARD 回到队列。"),
    _T(
        "List cards, or those whose text matches QUERY: English words and their beginnings, Chinese of any length.",
        "列出卡片，或内容匹配 QUERY 的卡片：英文按单词或词头，中文长短不限。",
    ),
    _T(
        "Practise cards of your choice, due or not.",
        "自选卡片专项练习，不论是否到期。",
    ),
    _T(
        "Answers are reviews and change the schedule, unless it is a cram. Suspended and buried cards are left out. "
        "Without options the app asks what to drill.",
        "作答算作复习，会改变复习安排；突击则不会。已搁置和已推迟的卡片不出。不带选项时，应用会问要练什么。",
    ),
    _T("Show what is due now.", "现在有哪些到期。"),
    _T("Review what is due.", "复习到期的卡片。"),
    _T("Print one CARD, whole.", "完整打印一张卡片 CARD。"),
    _T(
        "Answer cards that have one right answer, scored at the end.",
        "测验有唯一答案的卡片，最后算分。",
    ),
    _T(
        "A quiz changes no schedule and records nothing. Suspended and buried cards are left out.",
        "测验不改变复习安排，也不留记录。已搁置和已推迟的卡片不出。",
    ),
    _T("Take back what was last done on this machine.", "撤销在本机上的最后一次操作。"),
    _T(
        "A review, suspend, bury, unsuspend, tag, note, attempt, repair, fit or a step of a mock interview; what was "
        "seen stays seen.",
        "可以是复习、搁置、推迟、恢复、标签、笔记、作答、排错、参数拟合，或模拟面试的一步；看过的仍算看过。",
    ),
    _T(
        "A timed mock interview: warm-up, a deep dive along follow-ups, code at the whiteboard, bugs to mend.",
        "限时模拟面试：暖场、深入追问、白板编程、改正错误。",
    ),
    _T(
        "Cards keep their schedule; what was missed counts as weak, and its report is kept. Code that is graded is an "
        "attempt like any other. An interview that was not finished is gone on with.",
        "卡片的复习安排不变；没答出的算作薄弱，报告会保存下来。评测过的代码算一次作答。没做完的面试会接着进行。",
    ),
    _T(
        "Fit the FSRS parameters to your own reviews; kept if they predict recall better.",
        "用自己的复习记录拟合 FSRS 参数；预测得更准才采用。",
    ),
    _T(
        "Plan each day until the interview: what to study, the recall to expect, what does not fit.",
        "面试前每天学什么，到时预计记得多少，哪些来不及学。",
    ),
    _T("Retention, streak, forecast, and how ready each topic is.", "记忆保持率、连续天数、到期预测和各主题的掌握度。"),
    # Banks, progress, other programs
    _T("The question bank.", "题库。"),
    _T(
        "Validates banks: every problem at once, each as file:line:column: message.",
        "检查题库：一次列出所有问题，各注明文件、行和列。",
    ),
    _T(
        "Without PATHS the bundled bank and your own banks are checked.",
        "不给 PATHS 时检查自带的题库和自己的题库。",
    ),
    _T("Scaffolds a card or a challenge in place.", "新建卡片或编程题的骨架。"),
    _T(
        "Adds a card to your own bank TOPIC, with places for a question and an answer, or with those that are given.",
        "在自己的题库 TOPIC 中添加一张卡片：给出了问题和答案就写入，否则留出位置。",
    ),
    _T(
        "Prints where it begins, as file:line. One language, a question and an answer are enough.",
        "以 file:line 的形式打印它从哪里开始。只写一种语言、一问一答就够了。",
    ),
    _T(
        "A folder for the challenge ID of TRACK, in which the reference and one wrong solution are left to write.",
        "为 TRACK 中的编程题 ID 建一个目录，参考解和一份错误解答留待填写。",
    ),
    _T(
        "In a checkout it lies in impl/, otherwise in challenges/ of your attn folder.",
        "在源码目录中运行时建在 impl/ 下，否则建在 attn 数据目录的 challenges/ 下。",
    ),
    _T("Write a consistent copy of your progress.", "备份学习进度，得到一份完整一致的副本。"),
    _T(
        "Replace your progress by the backup FILE; a copy of what was there is kept.",
        "用备份 FILE 恢复学习进度；原来的内容会另存一份。",
    ),
    _T("Read or set a setting; without KEY, list them all.", "查看或修改设置；不给 KEY 时列出全部。"),
    _T("Check versions, places, the sandbox and your history.", "检查版本、路径、沙箱和学习记录。"),
    _T(
        "Print the completion script for SHELL; source it from the shell's start-up file.",
        "打印 SHELL 的补全脚本；在 shell 的启动文件中用 source 加载。",
    ),
    _T(
        "Take something along: the interview summary, a deck for Anki, the history.",
        "导出面试总结、Anki 牌组或学习记录。",
    ),
    _T(
        "A deck for Anki, with schedules and review history; importing a later one there updates its cards.",
        "导出 Anki 牌组，含复习安排和复习历史；之后再导入新的一份，会更新其中的卡片。",
    ),
    _T(
        "The whole history, one JSON document a line: what `attn import log` merges.",
        "导出全部学习记录，每行一个 JSON 文档；可用 `attn import log` 合并。",
    ),
    _T(
        "One page at a glance, weak cards with their answers, your own code, what to review before the day.",
        "导出面试总结：一页要点、薄弱卡片与答案、自己的代码、面试前该复习什么。",
    ),
    _T("Take over what another program or machine has.", "导入别的程序或设备上的数据。"),
    _T(
        "Cards and review history from FILE, an .apkg or .colpkg that Anki exported; what is here already counts once.",
        "从 FILE 导入卡片和复习历史：Anki 导出的 .apkg 或 .colpkg；已有的不会重复计入。",
    ),
    _T(
        "Merge a history: FILE from `attn export log` or `attn backup`, or a FOLDER of them; twice counts once.",
        "合并 `attn export log` 或 `attn backup` 写出的文件 FILE，或装有这些文件的目录 FOLDER；重复合并只算一次。",
    ),
    _T(
        "Merge the histories of all machines that share the folder DIR, and leave this one's there.",
        "合并共用目录 DIR 的各台设备的学习记录，并把本机的记录放进去。",
    ),
    # Challenges
    _T("List the challenges with your standing in each.", "列出编程题和自己在每道题上的进展。"),
    _T(
        "Write a starter file for CHALLENGE; an existing file is never overwritten.",
        "为 CHALLENGE 写出起始文件；绝不覆盖已有文件。",
    ),
    _T("Print the next hint for CHALLENGE; it is recorded as seen.", "打印 CHALLENGE 的下一条提示；会记录为已看。"),
    _T("Print the reference of CHALLENGE; it is recorded as seen.", "打印 CHALLENGE 的参考解；会记录为已看。"),
    _T(
        "What interviewers ask next goes to stderr, so that the reference can be kept as a file.",
        "面试官接下来会问什么，写到 stderr，这样参考解可以直接存成文件。",
    ),
    _T(
        "Grade FILE as a solution of CHALLENGE: exit 0 accepted, 1 rejected, 2 unusable, 3 the judge failed.",
        "评测 CHALLENGE 的解答 FILE：退出码 0 通过，1 未通过，2 无法使用，3 评测程序出错。",
    ),
    _T(
        "Grade DIR/<learner>/<challenge>.py for everyone: exit 0 graded, 2 nothing to grade, 3 the judge failed.",
        "评测整个班级的 DIR/<学员>/<编程题>.py：退出码 0 已评测，2 没有可评测的，3 评测程序出错。",
    ),
    _T(
        "Results and their seed are kept in DIR/.attn-cohort: no file is graded twice. "
        "Nothing is recorded as your attempt.",
        "结果和种子存在 DIR/.attn-cohort，同一文件不会重复评测。不会记为你自己的作答。",
    ),
    _T(
        "Run one small engine of your own solved pieces: it trains, then serves.",
        "把自己解出的部件组装成一个小引擎来运行：先训练，再推理服务。",
    ),
    _T(
        "What is missing is the reference. Exit 0 where the engine runs right; 1 where it does not, with the piece "
        "that breaks it.",
        "缺少的部件用参考解。引擎运行正确时退出码为 0；否则为 1，并指出是哪个部件出的问题。",
    ),
    _T(
        "Prove CHALLENGES (all of them by default): right solutions are accepted, wrong ones rejected.",
        "验证 CHALLENGES（默认全部）：正确的解答通过，错误的不通过。",
    ),
    _T(
        "What reading shows to be wrong with their files is told first, all at once, and then nothing is run.",
        "先读一遍文件，有错就一次全部列出，不再运行。",
    ),
    # Experiments and doors
    _T(
        "Run the experiment ID behind a card's claim; without ID list them.",
        "运行卡片结论背后的实验 ID；不给 ID 时列出全部实验。",
    ),
    _T("TEXT is what attention-map looks at, in any language.", "TEXT 是 attention-map 要看的文字，语言不限。"),
    _T("Exit 0 where the claim showed, 1 where it did not.", "结论得到印证时退出码为 0，否则为 1。"),
    _T(
        "Serve your own assistant: it quizzes you, gives hints and grades, over the Model Context Protocol on stdio.",
        "接入自己的助手：它通过标准输入输出上的 MCP 协议出题、给提示、评测。",
    ),
    _T(
        "Serve the app to a browser on this machine, at the URL that is printed; Ctrl-C ends it.",
        "在本机浏览器中使用应用，网址会打印出来；按 Ctrl-C 结束。",
    ),
)
