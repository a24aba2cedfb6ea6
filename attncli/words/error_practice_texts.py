"""What can be wrong with what was asked of cards, interviews and exports; see `error_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

CARDS: tuple[_T, ...] = (
    _T("there is no card {id}", "没有卡片 {id}"),
    _T("there is no track {track}", "没有系列 {track}"),
    _T("there is no topic {topic}", "没有主题 {topic}"),
    _T("topics are {topics}", "现有主题：{topics}"),
    _T("did you mean {near}? topics are {topics}", "是不是 {near}？现有主题：{topics}"),
    _T("no card matches {query}", "没有匹配 {query} 的卡片"),
    _T("try fewer words or other ones", "请减少几个词，或换别的词"),
    _T("the search has {count} characters", "搜索词有 {count} 个字符"),
    _T("use at most {most}", "最多 {most} 个"),
    _T("the search takes too long", "搜索太慢"),
    _T("use fewer words", "请减少几个词"),
    _T("there are no cards", "没有卡片"),
    _T("there is no card to ask", "没有可以出的卡片"),
    _T("no card fits {wish}", "没有符合 {wish} 的卡片"),
    _T("there would be {clause}", "{clause}"),
    _T("{clause_1}, {clause_2}", "{clause_1}，{clause_2}"),
    _T("{count} without {option}", "去掉 {option} 有 {count} 张"),
    _T("{count} with {option}", "改用 {option} 有 {count} 张"),
    _T("drop more than one of these, or unsuspend cards", "请去掉不止一个条件，或恢复已搁置的卡片"),
    _T("“{text}” is no tag", "“{text}”不是标签"),
    _T("use letters, digits and hyphens, at most {most}", "请用文字、数字和连字符，最多 {most} 个字符"),
    _T("the note has more than {most} characters", "笔记超过 {most} 个字符"),
    _T("shorten it", "请写短一些"),
    _T("{id} has {blanks} blanks, but {count} answers were given", "{id} 有 {blanks} 个空，却给了 {count} 个答案"),
    _T("{id} wants each of {items} once", "{id} 要求这几项各写一次：{items}"),
    _T("“{topic}” is no topic", "“{topic}”不能作为主题"),
    _T(
        "use lower-case letters, digits and single hyphens, such as mine",
        "只能用小写字母、数字和单个连字符，例如 mine",
    ),
    _T("“{topic}” cannot be a topic, since {file} is no file of cards", "“{topic}”不能作为主题：{file} 不是卡片文件"),
    _T("{problem}; correct it first, then add a card", "{problem}；请先改正，再添加卡片"),
    _T("{path} holds no card that was begun", "{path} 里没有写到一半的卡片"),
    _T("move it away", "请把它移走"),
    _T("it holds a card that you began", "里面是你写到一半的卡片"),
    _T("add the card by hand", "请手工添加卡片"),
    _T("“{text}” is no number", "“{text}”不是数字"),
    _T("write one such as 1.5, 1.5e3, 3/4 or {example}", "请写成 1.5、1.5e3、3/4 或 {example} 这样"),
    _T("“{text}” cannot be read: {reason}", "看不懂“{text}”：{reason}"),
    _T("“{given}” does not fit here", "单位“{given}”在这里不合适"),
    _T("the answer is asked for in {unit}", "答案要用 {unit}"),
    _T("the answer is asked for as a plain number", "答案只要一个数"),
    _T("the intervals of card {card} have changed", "卡片 {card} 的间隔已更新"),
    _T("nothing was recorded, rate it again", "没有留下记录，请重新评分"),
    _T("card {card} has no standing review", "卡片 {card} 没有有效的复习"),
    _T(
        "there is no review on this machine to take back, nor anything else that was done here",
        "本机没有可以撤销的复习，也没有其他可以撤销的操作",
    ),
    _T("nothing was answered in this sitting that could be taken back", "这一次还没有可以撤销的作答"),
    _T("no card is being asked", "现在没有在问卡片"),
    _T("no question has been answered that could be counted", "还没有答过可以计分的题"),
)

INTERVIEWS: tuple[_T, ...] = (
    _T("there is no interview date", "还没有设定面试日期"),
    _T("the interview date {day} is past", "面试日期 {day} 已经过去"),
    _T("the interview date {day} is more than two years away", "面试日期 {day} 在两年以后，太远了"),
    _T(
        "name one with --interview 2027-03-31, or set it once: attn config interview 2027-03-31",
        "请用 --interview 2027-03-31 给出，或设定一次：attn config interview 2027-03-31",
    ),
    _T("--interview: {day} is past", "--interview：{day} 已经过去"),
    _T("give the day of the interview, or leave it out", "请给出面试日期，或去掉它"),
    _T(
        "an interview takes {least} to {most} minutes, not {minutes}",
        "一场面试为 {least} 到 {most} 分钟，不能是 {minutes}",
    ),
    _T(
        "an answer without points comes to {none}, {partly} or {whole}",
        "没有要点的作答只能记 {none}、{partly} 或 {whole}",
    ),
    _T("the answer has not been given yet", "还没有作答"),
    _T("no code is asked for now", "现在不要求写代码"),
    _T("`attn mock` shows what is", "`attn mock` 显示现在要做什么"),
    _T("nothing was answered in this interview that could be taken back", "这场面试还没有可以撤销的作答"),
    _T("this interview was taken back elsewhere", "这场面试已在别处撤销"),
    _T("begin another", "请另开一场"),
    _T("the interview is over", "面试已经结束"),
    _T("no question is being asked", "现在没有在提问"),
    _T("card {id} has no follow-up {number}", "卡片 {id} 没有第 {number} 条追问"),
    _T("`attn show {id}` shows those it has", "`attn show {id}` 列出它有的追问"),
)

EXPORTS: tuple[_T, ...] = (
    _T("--format {form} contradicts {file}, which ends as {ending}", "--format {form} 与 {file} 的后缀 {ending} 矛盾"),
    _T("{file} ends in no format ({known})", "{file} 的后缀不是已知格式（{known}）"),
    _T("rename it, or say which with --format", "请改名，或用 --format 指定格式"),
    _T(
        "{file} does not end in {known}, and {clause} is written as nothing else",
        "{file} 的后缀不是 {known}：{clause}只能写成这种文件",
    ),
    _T(
        "{file} does not end in {known} or {other}, and {clause} is written as nothing else",
        "{file} 的后缀不是 {known} 或 {other}：{clause}只能写成这种文件",
    ),
    _T("{clause} is nothing for a terminal", "不适合显示在终端上：{clause}"),
    _T("name a file: -o {name}", "请指定文件：-o {name}"),
    _T("a deck for Anki", "Anki 牌组"),
    _T("a deck", "牌组"),
    _T("the history", "学习记录"),
    _T("a PDF", "PDF"),
    _T(
        "PDF needs WeasyPrint and ziamath, which are not installed: {command}, or take --format html",
        "导出 PDF 需要 WeasyPrint 和 ziamath，还没有安装：{command}，或改用 --format html",
    ),
    _T(
        "WeasyPrint finds no Pango here: Debian has {debian}, Homebrew pango",
        "WeasyPrint 在这里找不到 Pango：Debian 的包是 {debian}，Homebrew 的是 pango",
    ),
    _T("or take --format html and print it", "或改用 --format html 再打印"),
    _T("no font here has {signs}", "没有字体含有 {signs}"),
    _T("no font here has {signs} and {count} more", "没有字体含有 {signs} 等字符（另有 {count} 个）"),
    _T("install one ({packages}), or take --format html", "请安装一种（{packages}），或改用 --format html"),
)

FITS: tuple[_T, ...] = (
    _T(
        "{reviews} reviews came a day or more after the one before, {needed} are needed to fit anything",
        "与前一次相隔一天以上的复习只有 {reviews} 次，拟合至少需要 {needed} 次",
    ),
    _T(
        "{reviews} reviews have told something since the last fit, {needed} are needed to say whether another is "
        "better",
        "上次拟合之后有用的复习只有 {reviews} 次，要判断新的参数是否更好，至少需要 {needed} 次",
    ),
    _T("go on reviewing and ask again", "请继续复习，以后再试"),
    _T("fitting needs fsrs-rs-python, which is not installed", "拟合需要 fsrs-rs-python，还没有安装"),
)
