"""What `attn experiment` prints around what the experiments say themselves."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

SEED = _T("seed", "种子")
YES = _T("yes", "是")
NO = _T("no", "否")
SEVERAL = _T("several in one place", "多条重叠")
LIST_HEAD = _T("experiment  title  quick  full  cards", "实验  标题  快速  完整  卡片")
CLAIMED = _T("Claimed", "论断")
CAVEAT = _T("But", "注意")
HOLDS = _T("holds", "成立")
FAILS = _T("FAILS", "不成立")
CHECK = _T("{says}: {got} (due: {due})", "{says}：{got}（应为 {due}）")
SHOWN = _T("As claimed", "与论断相符")
NOT_SHOWN = _T("Not as claimed", "与论断不符")
IN_SEEDS = _T(" in {some} of {seeds} seeds", "（{seeds} 个种子中的 {some} 个）")
VERDICT = _T("{shown}{seeds}: {seen}", "{shown}{seeds}：{seen}")
SECONDS = _T("{count:g} s", "{count:g} 秒")
WRITTEN = _T("the plot is in {file}", "图已写入 {file}")
