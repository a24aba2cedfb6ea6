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
    "{file} 中有 {cards} 张卡片；其中 {reviewed} 张带有复习进度，历史记录含{reviews}",
)
FROM_ANKI_LEFT_OUT = _T(
    "left out: {count} cards that came from Anki; `--topic` takes a topic of theirs along",
    "未导出：{count} 张来自 Anki 的卡片；用 `--topic` 指定其主题即可导出",
)
