"""What is said of the plan for an interview: `attn plan`, the Plan screen, the countdown on Home and in statistics."""

from __future__ import annotations

from attncli.domain.text import Localised
from attncli.domain.text import Localised as _T

TODAY = _T("The interview is today.", "面试就在今天。")
TOMORROW = _T("The interview is tomorrow ({date:%Y-%m-%d}).", "面试就在明天（{date:%Y-%m-%d}）。")
IN_DAYS = _T("The interview is in {days} days ({date:%Y-%m-%d}).", "距离面试还有 {days} 天（{date:%Y-%m-%d}）。")
EXPECTED = _T(
    "At {minutes} min a day you should recall {recall:.0%} of what is asked (likely {low:.0%} to {high:.0%}); "
    "{stopped:.0%} if you stop now.",
    "每天 {minutes} 分钟，届时预计能答出所问内容的 {recall:.0%}（大致在 {low:.0%} 到 {high:.0%} 之间）；"
    "若现在停下，则为 {stopped:.0%}。",
)
BASIS = _T(
    "Based on {reviews} reviews of yours: {learn:.0f} s to learn a card, {review:.0f} s to review one.",
    "依据你的 {reviews} 次复习记录：学一张新卡约 {learn:.0f} 秒，复习一张约 {review:.0f} 秒。",
)
NO_BASIS = _T(
    "Based on no reviews of yours yet: {learn:.0f} s to learn a card and {review:.0f} s to review one are assumed.",
    "还没有你的复习记录：暂按学一张新卡 {learn:.0f} 秒、复习一张 {review:.0f} 秒估算。",
)
UNTIMED_BASIS = _T(
    "Based on {reviews} reviews of yours. How long they took is not known: {learn:.0f} s to learn a card and "
    "{review:.0f} s to review one are assumed.",
    "依据你的 {reviews} 次复习记录；记录里没有用时，暂按学一张新卡 {learn:.0f} 秒、复习一张 {review:.0f} 秒估算。",
)
STUDIED = _T("Studied today already: about {minutes:.0f} minutes.", "今天已学约 {minutes:.0f} 分钟。")
LEFT_OUT = _T(
    "Too little time for everything: cards that stay unseen: {cards}, core ones among them: {core}.",
    "时间不够学完全部：将有 {cards} 张卡片学不到，其中核心卡片 {core} 张。",
)
NEEDED = _T("{minutes} minutes a day would reach every card.", "若每天 {minutes} 分钟，每一张卡片都学得到。")
NEVER_ENOUGH = _T("Not even four hours a day would reach every card.", "即使每天四小时，也无法学到每一张卡片。")
CHALLENGES_LEFT = _T("Challenges that stay unsolved: {count}.", "将有 {count} 道编程题来不及做。")
DAY = _T("Today, {minutes:.0f} minutes", "今天，{minutes:.0f} 分钟")
REST_OF_DAY = _T("The rest of today, {minutes:.0f} minutes", "今天余下 {minutes:.0f} 分钟")
DONE = _T("Today's time is used up.", "今天的时间已经用完。")
DAYS = _T("Day by day", "每日安排")
BESIDE_REVIEW = _T(
    "This list is chosen for recall on the day of the interview; Review on Home asks what is due today. Their cards "
    "may differ, and answers to either count.",
    "这份清单按面试当天的回忆率挑选；主页的复习只问今天到期的卡片。两边的卡片可能不同，答哪边都算。",
)
NEW = _T("{count} new", "新卡 {count}")
REVIEWS = _T("{count} to review", "复习 {count}")
MINUTES = _T("{minutes:.0f} min", "{minutes:.0f} 分钟")
NEW_CARDS = _T("New:", "新卡：")
REVIEW_CARDS = _T("Review:", "复习：")
CHALLENGE = _T("Challenge:", "编程题：")
MORE_CARDS = _T("… and {count} more cards", "…… 另有 {count} 张")
MORE_DAYS = _T("… and {count} days more", "…… 另有 {count} 天")
FREE = _T("free", "休息")
LAST_PASS = _T("last pass", "最后一轮")
LAST_PASS_FROM = _T(
    "The last pass begins on {date:%Y-%m-%d}: each seen card once more, where it helps most.",
    "最后一轮从 {date:%Y-%m-%d} 开始：把已学的卡片再过一遍，先过最有用的。",
)
TOPICS = _T("Recall on the day, by topic", "面试当天各主题的回忆率")
HEAD_TOPIC = _T("topic", "主题")
HEAD_SEEN = _T("seen", "已学")
HEAD_PLANNED = _T("planned", "将学")
HEAD_RECALL = _T("recall", "回忆率")
HEAD_LIKELY = _T("likely", "大致范围")
HEAD_STOPPED = _T("if you stop", "若停下")
COUNTDOWN = _T(
    "{days} days to the interview · {ready:.0%} of what is asked is ready",
    "距面试 {days} 天 · 到当天仍能答出 {ready:.0%}",
)
COUNTDOWN_TOMORROW = _T(
    "Interview tomorrow · {ready:.0%} of what is asked is ready", "明天面试 · 届时能答出 {ready:.0%}"
)
COUNTDOWN_TODAY = _T("Interview today · {ready:.0%} of what is asked is ready", "今天面试 · 能答出 {ready:.0%}")


def countdown_line(days_left: int, ready: float) -> Localised:
    """How far away the interview is, and the share of what is asked that is ready for it as things stand."""
    said = COUNTDOWN_TODAY if days_left == 0 else COUNTDOWN_TOMORROW if days_left == 1 else COUNTDOWN
    return said.format(days=days_left, ready=ready)
