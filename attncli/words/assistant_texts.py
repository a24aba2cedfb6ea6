"""What `attn mcp` tells the learner's own assistant: how it leads a sitting, what each tool does and takes."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

INSTRUCTIONS = _T(
    "You quiz a learner who prepares for a Transformer and LLM interview. One card at a time: next_card gives a "
    "question without its answer. Put it to the learner in full, wait for what they say, and hand that in unchanged "
    "with attempt; do not answer for them. Only attempt gives the answer. Tell them what was right and what was "
    "missing, agree on a rating, record it with rate, then go on. Coding: challenges lists them, start writes a "
    "starter file, hint gives one hint at a time, grade judges their file in a sandbox. There is no way to a "
    "reference; do not write the solution for them unless they ask.",
    "你在陪一位准备 Transformer 与大模型面试的学习者练习。一次一张卡片：next_card 只给问题，不给答案。"
    "把问题完整地问出来，等学习者回答，再用 attempt 原样提交，不要替他们作答。只有 attempt 之后才有答案。"
    "说明哪里对、漏了什么，商定评分，用 rate 记录，然后继续。编程题：challenges 列出题目，start 写出起始文件，"
    "hint 每次给一条提示，grade 在沙箱中评测他们的文件。参考解无从取得；除非学习者要求，不要替他们写解答。",
)
TITLES: dict[str, _T] = {
    "title.due": _T("What is due", "待复习的内容"),
    "title.next-card": _T("Put a card", "出一张卡片"),
    "title.attempt": _T("Hand in the learner's answer", "提交学习者的回答"),
    "title.rate": _T("Record the rating", "记录评分"),
    "title.challenges": _T("List the coding challenges", "列出编程题"),
    "title.start": _T("Write a starter file", "写出起始文件"),
    "title.hint": _T("Give the next hint", "给出下一条提示"),
    "title.grade": _T("Grade a solution", "评测解答"),
    "title.stats": _T("How far the learner has come", "学习进度"),
}
DESCRIPTIONS: dict[str, _T] = {
    "about.due": _T(
        "Counts what is due now: new, learning and review cards, by topic, and challenges.",
        "统计现在到期的内容：新卡、学习中和复习的卡片（按主题），以及编程题。",
    ),
    "about.next-card": _T(
        "The next card to ask: its question, never its answer. Without arguments it follows the schedule; the same "
        "card comes again until it is attempted and rated.",
        "下一张要问的卡片：只有问题，没有答案。不带参数时按复习计划出卡；在作答并评分之前，总是同一张。",
    ),
    "about.attempt": _T(
        "Hands in what the learner answered to the card that was put, and only then gives the answer, the points to "
        "look for, and the marking where a card has one right answer. `how` of next_card says which argument it wants.",
        "提交学习者对当前卡片的回答，之后才给出答案和要点；有唯一正确答案的卡片同时判分。"
        "next_card 的 `how` 说明要用哪个参数。",
    ),
    "about.rate": _T(
        "Records how well the learner recalled the card that was attempted: on disk when this returns. All points "
        "said, or marked right: good; at least half of them: hard; fewer, or marked wrong: again; no effort: easy.",
        "记录学习者对刚作答的卡片记得如何，返回时已写入磁盘。要点说全或判对：good；说到至少一半：hard；"
        "更少或判错：again；毫不费力：easy。",
    ),
    "about.challenges": _T(
        "Every coding challenge with the learner's standing in it and when it is due again.",
        "全部编程题，以及学习者各题的状态和下次到期时间。",
    ),
    "about.start": _T(
        "Writes a starter for a challenge into the learner's solutions folder and shows it, statement included.",
        "在学习者的解答文件夹中写出一题的起始文件并显示内容，题目要求写在文件里。",
    ),
    "about.hint": _T(
        "The next hint for a challenge. It is recorded as help, so give it when the learner asks.",
        "一题的下一条提示。会记为求助，学习者要求时再给。",
    ),
    "about.grade": _T(
        "Grades the learner's code in a sandbox and records the attempt: verdict, checks, the smallest counterexample, "
        "the mistake that it looks like. Without file and source it takes their file in the solutions folder.",
        "在沙箱中评测学习者的代码并记录这次作答：结论、各项检查、最小反例、疑似的错误。"
        "不给 file 和 source 时，评测解答文件夹中的文件。",
    ),
    "about.stats": _T(
        "Retention, streak, forecast, and for each topic how ready the learner is and which cards are weak.",
        "记忆保持率、连续天数、到期预测，以及各主题的掌握度和薄弱卡片。",
    ),
}
ARGUMENTS: dict[str, _T] = {
    "argument.next-card.topic": _T("Only cards of this topic, by its id.", "只出这个主题（id）的卡片。"),
    "argument.next-card.card": _T("This card, by its id, whether it is due or not.", "指定卡片的 id，不论是否到期。"),
    "argument.next-card.weak": _T("The weakest cards, whether they are due or not.", "出最薄弱的卡片，不论是否到期。"),
    "argument.attempt.card": _T("The id of the card that was put.", "当前卡片的 id。"),
    "argument.attempt.text": _T("What the learner said, or the number with its unit.", "学习者说的话，或数值及单位。"),
    "argument.attempt.numbers": _T(
        "The numbers of the chosen options, all items in the learner's order, or the line with the mistake.",
        "所选选项的编号、学习者排出的全部条目顺序，或有错的行号。",
    ),
    "argument.attempt.blanks": _T("What the learner put into the blanks, in order.", "学习者依次填入各空的内容。"),
    "argument.attempt.gave-up": _T(
        "True only if the learner said that they do not know; then nothing else is given.",
        "只有学习者明说不知道时才为 true，此时不给其他内容。",
    ),
    "argument.rate.card": _T("The id of the card that was attempted.", "刚作答的卡片的 id。"),
    "argument.rate.rating": _T("How well it was recalled.", "记得如何。"),
    "argument.rate.points": _T(
        "For a card that is not marked: the numbers of the points that the learner made.",
        "不判分的卡片：学习者说到的要点的编号。",
    ),
    "argument.challenges.track": _T("Only this track.", "只列这个系列。"),
    "argument.start.challenge": _T("Its id.", "题目的 id。"),
    "argument.start.bug": _T(
        "A wrong solution to debug instead of an empty starter; another one only after it was graded.",
        "写出一份有错的解答供调试，而不是空的起始文件；评测之后才会再给一份。",
    ),
    "argument.start.fresh": _T(
        "Begin anew: a file that is there is kept as a numbered copy.", "重新开始：已有的文件改为带编号的副本保留。"
    ),
    "argument.hint.challenge": _T("The challenge.", "哪道题。"),
    "argument.grade.challenge": _T("The challenge that the code solves.", "代码所解的题目。"),
    "argument.grade.file": _T(
        "The file to grade: a path, from the solutions folder where it is not absolute.",
        "要评测的文件：路径，相对路径从解答文件夹算起。",
    ),
    "argument.grade.source": _T("The code itself instead of a file.", "直接给出代码，代替文件。"),
    "argument.grade.rung": _T(
        "What is asked for: solved (the whiteboard) or hardened (production).",
        "要求达到的级别：solved（白板面试）或 hardened（生产环境）。",
    ),
}
HOW: dict[str, _T] = {
    "qa": _T("text: what the learner said", "text：学习者说的话"),
    "choice": _T("numbers: of the one right option", "numbers：唯一正确选项的编号"),
    "choice-many": _T("numbers: of all right options", "numbers：所有正确选项的编号"),
    "numeric": _T("text: a number", "text：一个数"),
    "numeric-unit": _T("text: a number in {unit}", "text：以 {unit} 为单位的数"),
    "cloze": _T("blanks: {n} texts, one for each blank", "blanks：{n} 段文字，每空一段"),
    "ordering": _T("numbers: of all items, in the right order", "numbers：按正确顺序列出全部条目的编号"),
    "debug": _T("numbers: the one line with the mistake", "numbers：有错的那一行的行号"),
}
NOTHING_LEFT = _T("No card is left to ask here now.", "现在没有可问的卡片了。")
