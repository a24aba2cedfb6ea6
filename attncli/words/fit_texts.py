"""What `attn optimize` says of a fit."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

JUDGED: dict[bool, _T] = {
    True: _T(
        "Fitted to {reviews} reviews. Tried on {held_back} that it had not seen, it predicts recall better than the "
        "parameters in force.",
        "已用 {reviews} 次复习拟合参数。用拟合时没有见过的 {held_back} 次复习检验，新参数对记忆的预测优于当前参数。",
    ),
    False: _T(
        "Fitted to {reviews} reviews. Tried on {held_back} that it had not seen, it does not predict recall better "
        "than the parameters in force by more than chance: those stay, and nothing was changed.",
        "已用 {reviews} 次复习拟合参数。用拟合时没有见过的 {held_back} 次复习检验，"
        "新参数的预测没有明显优于当前参数（差别在偶然误差之内）：保留当前参数，未作任何改动。",
    ),
}
SCORES = _T(
    "  log loss {before:.4f} → {after:.4f} (gain {gain:.4f}, standard error {error:.4f}); "
    "RMSE in bins {rmse_before:.4f} → {rmse_after:.4f}",
    "  对数损失 {before:.4f} → {after:.4f}（改善 {gain:.4f}，标准误 {error:.4f}）；"
    "分箱均方根误差 {rmse_before:.4f} → {rmse_after:.4f}",
)
FIRST_INTERVALS = _T(
    "  a new card comes again after: {intervals} (days, steps aside)",
    "  新卡第一次作答后的间隔：{intervals}（天，不计学习步骤）",
)
ONE_INTERVAL = _T("{rating} {before:g} → {after:g}", "{rating} {before:g} → {after:g}")
COMMA = _T(", ", "，")
MINUTES = _T(
    "  the cards seen so far take {before:.1f} → {after:.1f} minutes a day (mean of the next {days} days)",
    "  已学卡片每天需要 {before:.1f} → {after:.1f} 分钟（未来 {days} 天平均）",
)
RECALL = _T(
    "  recall when a card comes due: {before:.0%} → {after:.0%} (you asked for {wished:.0%})",
    "  卡片到期时的回忆率：{before:.0%} → {after:.0%}（目标 {wished:.0%}）",
)
MEANING: dict[str, _T] = {
    "longer": _T(
        "You remember longer than was assumed: intervals grow, and the same memory costs less time.",
        "你记得比之前假定的更久：间隔变长，保持同样的记忆花的时间更少。",
    ),
    "shorter": _T(
        "You forget sooner than was assumed: intervals shrink, so that as much stays as you asked for.",
        "你忘得比之前假定的更快：间隔变短，才能达到你设定的记忆保持率。",
    ),
    "same": _T(
        "The work stays about the same; it moves to the cards that need it.",
        "总量大致不变，只是更多时间用在需要的卡片上。",
    ),
}
IN_FORCE = _T(
    "All schedules follow the new parameters now; `attn undo` takes that back.",
    "所有复习安排已改用新参数；用 `attn undo` 可以撤销。",
)
