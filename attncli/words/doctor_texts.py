"""What `attn doctor` says to a person: the names of what it looked at, and what it found.

In English nearly all names are those of its JSON document.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

NAMES: dict[str, _T] = {
    "platform": _T("platform", "平台"),
    "home": _T("home", "主目录"),
    "config": _T("config", "设置"),
    "database": _T("database", "数据库"),
    "solutions": _T("solutions", "解答"),
    "quizbank": _T("quizbank", "内置题库"),
    "impl": _T("impl", "内置编程题"),
    "copies": _T("copies", "副本"),
    "banks": _T("banks", "题库"),
    "clock": _T("clock", "时钟"),
    "device": _T("device", "设备"),
    "sandbox": _T("sandbox", "沙箱"),
    "gpu": _T("on the GPU", "GPU 沙箱"),
}
"""What is not here, such as a library, is called the same in both languages."""

INTEGRITY: dict[str, _T] = {
    "ok": _T("ok", "完好"),
    "damaged": _T("damaged", "已损坏"),
    "unusable": _T("unusable", "无法使用"),
}
LOG = _T(", {rows}", "，{rows}")
SET_ASIDE = _T(" ({rows} set aside)", "（其中 {rows}已另外存放）")
DAMAGED_ROW = _T("{count} damaged row", "{count} 条损坏的记录")
DAMAGED_ROWS = _T("{count} damaged rows", "{count} 条损坏的记录")
FORMAT = _T(", format {format}", "，格式 {format}")
NEWEST_COPY = _T("the newest of {date}", "最新一份为 {date}")
NO_COPY = _T("none yet", "还没有")
BANKS = _T(
    "{cards} cards, {topics} topics, {challenges} challenges", "{cards} 张卡片，{topics} 个主题，{challenges} 道编程题"
)
NO_LAYER = _T("none", "无")
MISSING = _T("missing {name}: {why}", "缺少 {name}：{why}")

DERIVED = _T("derived {count} schedules anew", "重新算出 {count} 份复习安排")
SAVED = _T(
    "saved {rows} of the log{lost}{cut}; the damaged file is kept as {kept}",
    "从记录中救回 {rows}{lost}{cut}；损坏的文件保留为 {kept}",
)
LOST = _T("; {rows} could not be read", "；{rows}无法读出")
CUT_SHORT = _T("; the file was cut short, and what was beyond its end is lost", "；文件被截断，截断处之后的内容已丢失")
PUT_ASIDE = _T("set {rows} aside; nothing reads them any more", "{rows}已另外存放，不再读取")
PUT_BACK = _T("put {rows} back that another file had", "从另一个文件找回 {rows}")

FINDINGS: tuple[_T, ...] = (
    _T(
        "row {number} of the log is damaged (id {id}, about {subject})",
        "第 {number} 条记录已损坏（id {id}，关于 {subject}）",
    ),
    _T("{count} more rows of the log are damaged", "另有 {count} 条记录已损坏"),
    _T("dangling reference in {table}", "{table} 中有悬空引用"),
    _T("{name} is missing", "缺少 {name}"),
    _T("{name} of {table} is missing", "{table} 缺少 {name}"),
    _T("rows in {file} may be missing here", "{file} 中的记录可能没有并入"),
    _T(
        "the {kind} of {subject} is stamped {at}Z, more than a day ahead of this clock",
        "{subject} 的 {kind} 记录时间为 {at}Z，比本机时钟快一天以上",
    ),
    _T("more of them: {count}", "另有 {count} 条"),
    _T(
        "if this clock is right, answer those again (what came from the future is then set aside) or take the last "
        "one back with `attn undo`",
        "如果本机时钟正确，请重新作答（来自未来的记录会被搁到一边），或用 `attn undo` 撤销最后一条",
    ),
    _T("if it is wrong, set it", "如果时钟不对，请校准"),
    _T("mounts: the challenges' folders are not covered ({reason})", "mounts：编程题的目录没有被遮住（{reason}）"),
    _T(
        "landlock: {reason}; files that this user can read can be read",
        "landlock：{reason}；当前用户可读的文件都能被读取",
    ),
    _T(
        "process: running as root; the number of threads is limited by a watch alone",
        "process：以 root 身份运行；线程数只靠监视来限制",
    ),
    _T("{name}: was set up, but the self-test got past it", "{name}：已设置，但自检绕过了它"),
    _T("not in force", "未生效"),
    _T(
        "covers less: the GPU's driver is open to a file, host memory is watched and not limited (SECURITY.md)",
        "防护较弱：代码能直接访问显卡驱动，主机内存只监视、不设上限（见 SECURITY.md）",
    ),
)
"""Lines that arise elsewhere, in English, as errors do."""
