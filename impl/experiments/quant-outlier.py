"""One outlier ruins the scale of every value that shares it; small groups contain it. NF4's levels fit Gaussians better.

64 rows of 256 Gaussian values, the first of each row set to 50. INT8 with one scale a row (absmax/127) must reach 50,
so its step is 0.39 and the others lose most of their digits; with groups of 32 values only the outlier's own group
pays. The plot shows the root mean square error of all values but the outlier, by row and by group. Below it, on
clean Gaussians, 4 bits in blocks of 64: 15 evenly spaced levels (absmax/7) against NF4's 16, which crowd around 0.
Over seeds 0 … 99 the row-wise error was 2.77 … 2.91 times the grouped one over all clean values, 20.7 … 21.9 times
outside the outlier's group, and NF4's 0.833 … 0.879 of INT4's.

Control: there is no outlier.

Dettmers et al. 2022, arXiv 2208.07339 (outliers); Dettmers et al. 2023, arXiv 2305.14314 (NF4, appendix E).
"""

from __future__ import annotations

import torch

TITLE = {"en": "One outlier ruins a shared scale", "zh": "一个离群值毁掉共用的 scale"}
CLAIM = {
    "en": "An outlier spoils INT8 for all values under its scale, groups contain the damage, and on Gaussians NF4 beats INT4.",
    "zh": "离群值会毁掉与它共用 scale 的所有 INT8 数值，分组能把损害关在组内；在高斯数据上 NF4 优于 INT4。",
}
CARDS = ("prec-11", "prec-13", "prec-16")
CAVEATS = (
    {
        "en": "The outlier is planted; in large models such channels arise in activations, and weights are much tamer.",
        "zh": "这里的离群值是人为放进去的；大模型里它们出现在激活的少数通道上，权重要温和得多。",
    },
    {
        "en": "NF4 wins because the values are Gaussian, for which its levels were made, not on every distribution.",
        "zh": "NF4 占优是因为数据服从高斯分布，它的量化点正是为此设计的；换一种分布未必如此。",
    },
)
SEEDS = 1
SECONDS = (2, 2)
ROWS, VALUES, OUTLIER, GROUP, BLOCK = 64, 256, 50.0, 32, 64
NF4 = (
    *(-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0),
    *(0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0),
)


def run(seed, quick, progress, control=False):
    generator = torch.Generator().manual_seed(seed)
    clean = torch.randn(ROWS, VALUES, generator=generator)  # (rows, values)
    hit = clean.clone()
    if not control:
        hit[:, 0] = OUTLIER
    int8 = torch.arange(-127, 128) / 127  # levels of one unit of scale
    by_row, by_group = (quantised(hit, size, int8) - hit for size in (VALUES, GROUP))  # errors (rows, values)
    row, group = rms(by_row[:, 1:]), rms(by_group[:, 1:])
    inside, outside = rms(by_group[:, 1:GROUP]), rms(by_group[:, GROUP:])
    row_outside = rms(by_row[:, GROUP:])
    progress(0.5)
    nf4 = rms(quantised(clean, BLOCK, torch.tensor(NF4)) - clean)
    int4 = rms(quantised(clean, BLOCK, torch.arange(-7, 8) / 7) - clean)
    rows = [
        [{"en": "INT8, one scale a row", "zh": "INT8，每行一个 scale"}, row],
        [{"en": f"INT8, groups of {GROUP}", "zh": f"INT8，每组 {GROUP} 个"}, group],
        [{"en": "of these the outlier's own group", "zh": "其中离群值所在的组"}, inside],
        [{"en": "of these the other groups", "zh": "其中其余各组"}, outside],
        [{"en": f"INT4, blocks of {BLOCK}, no outlier", "zh": f"INT4，每块 {BLOCK} 个，无离群值"}, int4],
        [{"en": f"NF4, blocks of {BLOCK}, no outlier", "zh": f"NF4，每块 {BLOCK} 个，无离群值"}, nf4],
    ]
    return {
        "columns": [
            {"en": "quantised", "zh": "量化方式"},
            {"en": "RMSE of the clean values", "zh": "正常值的 RMSE"},
        ],
        "rows": rows,
        "plots": [
            {
                "kind": "bar",
                "title": {"en": "RMSE of the values that are no outliers", "zh": "非离群值的 RMSE"},
                "x": [name for name, _ in rows],
                "series": [{"name": {"en": "RMSE", "zh": "RMSE"}, "y": [error for _, error in rows]}],
            }
        ],
        "checks": [
            {
                "says": {"en": "row-wise over grouped error, all clean values", "zh": "按行与分组误差之比，全部正常值"},
                "holds": row / group > 2.5,
                "got": f"{row / group:.2f}",
                "due": "> 2.5",
            },
            {
                "says": {"en": "the same outside the outlier's group", "zh": "同上，离群值所在组之外"},
                "holds": row_outside / outside > 15,
                "got": f"{row_outside / outside:.1f}",
                "due": "> 15",
            },
            {
                "says": {"en": "NF4 over INT4 error, clean Gaussians", "zh": "NF4 与 INT4 误差之比，纯高斯数据"},
                "holds": nf4 / int4 < 0.92,
                "got": f"{nf4 / int4:.3f}",
                "due": "< 0.92",
            },
        ],
        "seen": {
            "en": f"one value of {OUTLIER:g} in a row of {VALUES} raised the error of the others to {row:.3f}, {row_outside / outside:.0f} times that of the groups it did not touch, and NF4's error was {nf4 / int4:.2f} of INT4's.",
            "zh": f"一行 {VALUES} 个数里有一个 {OUTLIER:g}，其余数的误差就升到 {row:.3f}，是未受牵连的组的 {row_outside / outside:.0f} 倍；NF4 的误差是 INT4 的 {nf4 / int4:.2f}。",
        },
    }


def quantised(x, size, levels):
    """Divide each run of `size` values by its greatest magnitude, round to the nearest level and multiply back."""
    groups = x.reshape(-1, size)  # (groups, size)
    scale = groups.abs().amax(dim=1, keepdim=True)  # (groups, 1)
    nearest = (groups / scale)[..., None].sub(levels).abs().argmin(dim=-1)  # (groups, size)
    return (levels[nearest] * scale).reshape(x.shape)


def rms(errors):
    return errors.square().mean().sqrt().item()
