"""What a card says in Anki, and what the commands say that write and read packages."""

from __future__ import annotations

from attncli.domain.text import Localised

_T = Localised

# on the cards
MARK_SEVERAL = _T("Several are right.", "有多个正确选项。")
PUT_IN_ORDER = _T("Put these in order:", "按正确顺序排列：")
ONE_ORDER = _T("One right order:", "一种正确顺序：")
BEFORE = _T("What must come first:", "必须满足的先后：")
ASKED_IN = _T("Answer in {unit}.", "答案单位：{unit}。")
WITHIN = _T("{expected} (within {tolerance})", "{expected}（误差 {tolerance} 以内）")
COMPUTED = _T("Computed as {formula}", "计算：{formula}")
ALSO_RIGHT = _T("{answer} (also {others})", "{answer}（也可写作 {others}）")

# export
ANKI_WRITTEN = _T(
    "{cards} cards in {file}; {reviewed} of them with a schedule, {reviews} in their history",
    "{file} 中有 {cards} 张卡片；其中 {reviewed} 张带有复习进度，共{reviews}",
)
FROM_ANKI_LEFT_OUT = _T(
    "left out: {count} cards that came from Anki; `--topic` takes a topic of theirs along",
    "未导出：{count} 张来自 Anki 的卡片；用 `--topic` 指定其主题即可导出",
)

# import
ANKI_IMPORTED: dict[str, Localised] = {
    "done": _T(
        "{cards} cards in {file}: {new_cards} new, {own} of attn, {known} here already; "
        "{reviews} reviews: {new_reviews} new",
        "{file} 中有 {cards} 张卡片：新增 {new_cards} 张，来自 attn 的 {own} 张，已有 {known} 张；"
        "复习记录 {reviews} 条，新增 {new_reviews} 条",
    ),
    "dry-run": _T("nothing was written (--dry-run)", "未写入任何内容（--dry-run）"),
    "file": _T("new cards are in {file}", "新卡片在 {file}"),
    "suspended": _T("suspended there, and now here: {count}", "在 Anki 中已搁置、现在也搁置：{count} 张"),
    "unreadable": _T(
        "left out: {count} cards with nothing to read on one side (pictures or sounds alone)",
        "未导入：{count} 张卡片有一面没有文字（只有图片或声音）",
    ),
    "media": _T("left out of the texts: {count} pictures or sounds", "文字中略去图片或声音 {count} 处"),
    "gone": _T(
        "cards of attn that no bank here has: {count}; their reviews are kept and count once the card is here",
        "题库中没有的 attn 卡片：{count} 张；其复习记录已保留，卡片加入后即生效",
    ),
    "lost": _T("left out: {count} reviews of cards that are not here", "未导入：{count} 条复习记录所属的卡片不在这里"),
}
