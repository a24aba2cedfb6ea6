"""What a card says in Anki, and what the commands say that write and read packages."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

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
    "cards in {file}: {cards}; with a schedule: {reviewed}; reviews: {reviews}",
    "{file} 中的卡片：{cards} 张；带复习进度的：{reviewed} 张；复习记录：{reviews} 条",
)
FROM_ANKI_LEFT_OUT = _T(
    "left out, since they came from Anki: {count}; `--topic` takes a topic of theirs along",
    "未导出的来自 Anki 的卡片：{count} 张；用 `--topic` 指定其主题即可导出",
)

# import
ANKI_IMPORTED: dict[str, _T] = {
    "done": _T(
        "cards in {file}: {cards} (new: {new_cards}, of attn: {own}, here already: {known}); "
        "reviews: {reviews} (new: {new_reviews})",
        "{file} 中的卡片：{cards} 张（新增 {new_cards}，来自 attn {own}，已有 {known}）；"
        "复习记录：{reviews} 条（新增 {new_reviews}）",
    ),
    "dry-run": _T("nothing was written (--dry-run)", "未写入任何内容（--dry-run）"),
    "file": _T("new cards are in {file}", "新卡片在 {file}"),
    "suspended": _T("suspended there, and now here: {count}", "在 Anki 中已搁置、现在也搁置：{count} 张"),
    "unreadable": _T(
        "cards left out, with nothing to read on one side (pictures or sounds alone): {count}",
        "未导入的卡片（有一面没有文字，只有图片或声音）：{count} 张",
    ),
    "media": _T("pictures or sounds left out of texts: {count}", "文字中略去的图片或声音：{count} 处"),
    "gone": _T(
        "cards of attn that no bank here has: {count}; their reviews are kept and count once the card is here",
        "题库中没有的 attn 卡片：{count} 张；其复习记录已保留，卡片加入后即生效",
    ),
    "forgotten": _T(
        "reviews from before a card was reset in Anki, which count no more: {count}",
        "卡片在 Anki 中重置之前的复习记录，不再计入：{count} 条",
    ),
    "taken_back": _T(
        "reviews here that this package corrects, taken back: {count}", "按此文件更正而撤销的复习记录：{count} 条"
    ),
    "lost": _T(
        "reviews left out, of cards that are not here: {count}", "未导入的复习记录（所属卡片不在这里）：{count} 条"
    ),
}
