"""What the app says of challenges and gradings, in English and Chinese; a part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T
from attncli.words.after_solving_texts import ASKED_NEXT
from attncli.words.grade_report_texts import PRINTED, STANDINGS

TEXTS: dict[str, _T] = {
    "challenges.title": _T("Challenges", "编程题"),
    "challenges.column": _T("Challenge", "编程题"),
    "challenges.none": _T("There are no challenges.", "没有编程题。"),
    "challenges.narrow": _T("words of a title or a track, is:{states}", "标题或类别中的词，is:{states}"),
    "challenges.nothing": _T("No challenge has all these words.", "没有编程题同时符合这些词。"),
    "challenges.all-tracks": _T("All tracks", "全部类别"),
    "challenges.solved": _T("{solved} of {total} solved", "共 {total} 题，已解出 {solved} 题"),
    "challenges.level": _T("Level", "难度"),
    **{f"standing.{standing}": text for standing, text in STANDINGS.items()},
    "challenges.due": _T("due", "到期"),
    "challenge.level": _T("level {level} of 5", "难度 {level}/5"),
    "challenge.not-started": _T(
        "Press e: a starter file is written and your editor opens it; w opens it here.",
        "按 e：生成起始文件并用编辑器打开；按 w 在此编写。",
    ),
    "challenge.file": _T("File: {file} · t tries a case of your own", "文件：{file} · 按 t 自测用例"),
    "challenge.started": _T("Starter written: {file}", "已生成起始文件：{file}"),
    "challenge.starting": _T("Starting the judge", "正在启动评测"),
    "challenge.grading": _T("Grading: {check}", "评测中：{check}"),
    "challenge.cancelled": _T("Grading cancelled.", "已取消评测。"),
    "challenge.hint": _T("Hint {n} of {total}", "提示 {n}/{total}"),
    "challenge.no-card": _T("No card explains this challenge yet.", "还没有讲解这道题的卡片。"),
    "challenge.no-more-hints": _T("There are no more hints.", "没有更多提示了。"),
    "challenge.solution": _T("Reference", "参考解"),
    "challenge.see-solution": _T(
        "Show the reference? It is recorded, and solving it today counts as Again.",
        "要看参考解吗？会记录下来，今天再做出来也按“重来”计。",
    ),
    "challenge.yes": _T("y  Show it", "y  查看"),
    "challenge.no": _T("n  Not yet", "n  暂不"),
    "challenge.unfold": _T(
        "▸ {title}: what production asks for besides (x shows it)", "▸ {title}：生产环境还要求什么（按 x 展开）"
    ),
    "challenge.fold": _T(
        "▾ {title}: what production asks for besides (x hides it)", "▾ {title}：生产环境还要求什么（按 x 收起）"
    ),
    "challenge.needs": _T("Checks of both rungs: {checks}", "两级检查项：{checks}"),
    "challenge.forbidden": _T("Not to be called: {calls}", "禁止调用：{calls}"),
    "verdict.summary": _T(
        "{passed} of {total} checks, {seconds} s", "{total} 项检查通过 {passed} 项，用时 {seconds} 秒"
    ),
    "verdict.unproved": PRINTED["unproved"],
    "verdict.fresh": _T("f: a fresh exam, on other inputs", "f：换一组输入再考一次"),
    "verdict.exam": _T("fresh exam {seed}", "第 {seed} 套新题"),
    "verdict.next-due": _T("comes back in {interval}", "{interval}后再练"),
    "verdict.diagnosis": _T("What it looks like", "可能的原因"),
    "verdict.checks": _T("All checks", "全部检查"),
    "verdict.first-failure": _T("What failed first: {check}", "首先失败的检查：{check}"),
    "verdict.to-harden": _T("To harden it next: {check}", "接下来要加固：{check}"),
    "verdict.printed": _T("Your file printed", "你的程序输出"),
    "after.asked-next": _T(f"{ASKED_NEXT.en} (a opens the next answer)", f"{ASKED_NEXT.zh}（按 a 展开下一条答案）"),
    "after.next": _T("n: next, {title}", "n：下一题，{title}"),
    "after.none": _T("Every challenge is solved.", "编程题已全部解出。"),
    "status.pass": _T("✓ pass", "✓ 通过"),
    "status.fail": _T("✗ fail", "✗ 失败"),
    "status.harden": _T("△ next", "△ 待加固"),
    "status.skipped": _T("– skipped", "– 跳过"),
    "status.info": _T("i info", "i 参考"),
    "status.running": _T("› running", "› 进行中"),
    "status.badge": _T(" (badge)", "（加分项）"),
    "counterexample.title": _T("Smallest counterexample", "最小反例"),
    "challenge.symptom": _T("Find the bug", "找出错误"),
    "challenge.bug-written": _T(
        "A wrong solution is in {file}. Press e, find the mistake, mend it, then g.",
        "{file} 里是一份有错的解答。按 e 编辑，找出错误并改正，再按 g 评测。",
    ),
    "challenge.offers-repair": _T(
        "Or r: a repair round, 1 to 4 bugs in the reference to find and mend.",
        "或者按 r 排错：参考解里埋了 1 到 4 处错误，找出来改正。",
    ),
    "challenge.no-repair": _T(
        "{title} has no repair round; b hands out one wrong solution to debug.",
        "{title}没有排错环节；按 b 可以调试一份有错的解答。",
    ),
    "challenge.repair": _T("Find {bugs}", "找出 {bugs}"),
    "challenge.repair-task": _T(
        "Mistakes are planted in the reference, which is in {file}. Press e, mend them, then g: it tells how many are "
        "repaired, and what one observes of those that are left.",
        "{file} 里是埋了错误的参考解。按 e 编辑改正，再按 g 评测：会告诉你改对了几处，剩下的有什么症状。",
    ),
    "challenge.repair-written": _T(
        "{file} has {bugs}. Press e, mend them, then g.", "{file} 里有 {bugs}。按 e 改正，再按 g 评测。"
    ),
    "challenge.how-many": _T("How many bugs?", "要找几处错误？"),
    "challenge.how-many-kept": _T(
        "How many bugs? Your file for this challenge is kept as a numbered copy.",
        "要找几处错误？这道题你原来的文件会另存为带编号的副本。",
    ),
    "challenge.repair-leave": _T("Esc  Not now", "Esc  暂不"),
    "verdict.repaired": _T("Repair round", "排错"),
    "challenge.bug-kept": _T("Your file is kept as {file}.", "你原来的文件保存为 {file}。"),
    "challenge.keep-file": _T(
        "You have a file for this challenge. Keep it as a numbered copy, with a wrong solution to debug in its place?",
        "这道题你已经有文件了。把它另存为带编号的副本，换成一份有错的解答来调试？",
    ),
    "challenge.yes-bug": _T("y  Find the bug", "y  开始找错"),
    "challenge.no-suspend": _T(
        "This terminal cannot be lent to an editor. Edit {file} in another window, then press g.",
        "当前终端无法切到编辑器。请在另一个窗口编辑 {file}，再按 g 评测。",
    ),
    "check.loads": _T("the file loads and defines the entry point", "文件能加载，入口签名相符"),
    "check.matches-reference": _T("outputs equal the reference's", "输出与参考解一致"),
    "check.gradients": _T("gradients equal the reference's", "梯度与参考解一致"),
    "check.edge-cases": _T("the sizes people forget", "容易漏掉的边界情形"),
    "check.stable": _T("finite and right on large inputs", "大数值输入下有限且正确"),
    "check.low-precision": _T("right in bfloat16 and float16", "bfloat16、float16 下正确"),
    "check.layout": _T("right on strided and expanded inputs", "非连续布局输入下正确"),
    "check.device": _T("tensors are made on the inputs' device", "张量建在输入所在设备上"),
    "check.pure": _T("inputs untouched, nothing shared or kept", "不改输入，不共享内存，不留状态"),
    "check.random": _T("the statistics of a random technique", "随机方法的统计性质"),
    "check.forbidden": _T("writes what was to be written", "没有调用要求自己写的操作"),
    "check.work": _T("the work grows as promised", "计算量按承诺增长"),
    "check.memory": _T("the memory stays as promised", "内存按承诺增长"),
    "check.speed": _T("time against the reference", "与参考解的用时比较"),
}
