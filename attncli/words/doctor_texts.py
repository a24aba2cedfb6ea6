"""What `attn doctor` says to a person: the names of what it looked at, and what it found.

In English nearly all names are those of its JSON document.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

NAMES: dict[str, _T] = {
    "platform": _T("platform", "平台"),
    "home": _T("home", "主目录"),
    "config": _T("config", "设置"),
    "database": _T("history", "学习记录"),
    "history": _T("history", "学习记录"),
    "cache": _T("cache", "缓存"),
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
NEWEST_COPY = _T("the newest of {date}", "最新一份为 {date}")
NO_COPY = _T("none yet", "还没有")
BANKS = _T(
    "{cards} cards, {topics} topics, {challenges} challenges", "{cards} 张卡片，{topics} 个主题，{challenges} 道编程题"
)
NO_LAYER = _T("none", "无")
MISSING = _T("missing {name}: {why}", "缺少 {name}：{why}")

DERIVED = _T("derived {count} schedules anew", "重新算出 {count} 份复习安排")

FINDINGS: tuple[_T, ...] = (
    _T(
        "the {kind} of {subject} is stamped {at}Z, more than a day ahead of this clock",
        "{subject} 的 {kind} 记录时间为 {at}Z，比本机时钟快一天以上",
    ),
    _T("more of them: {count}", "另有 {count} 条"),
    _T("it counts when its time has come", "时间到了才算数"),
    _T("if this clock is wrong, set it", "如果时钟不对，请校准"),
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
