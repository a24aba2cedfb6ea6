"""What can be wrong with the database, its backups, merged logs and what Anki exports; see `error_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

DATABASE: tuple[_T, ...] = (
    _T("cannot use the database {path} ({reason})", "无法使用数据库 {path}（{reason}）"),
    _T("cannot write to the database {path} ({reason})", "无法写入数据库 {path}（{reason}）"),
    _T("the database {path} failed ({reason})", "数据库 {path} 出错（{reason}）"),
    _T("the database {path} is damaged ({reason})", "数据库 {path} 已损坏（{reason}）"),
    _T("run `attn doctor --rebuild`", "请运行 `attn doctor --rebuild`"),
    _T(
        "run `attn doctor --rebuild` to save what can be read, or `attn restore FILE` with a backup",
        "请运行 `attn doctor --rebuild` 抢救能读出的内容，或用备份恢复：`attn restore FILE`",
    ),
    _T(
        "{path}: {reason}; `attn doctor --rebuild` mends it or saves what can be read",
        "{path}：{reason}；`attn doctor --rebuild` 可以修复它，或抢救能读出的内容",
    ),
    _T("the database {path} was replaced while attn was open", "数据库 {path} 在 attn 打开期间被替换"),
    _T("the database {path} was removed while attn was open", "数据库 {path} 在 attn 打开期间被移走"),
    _T(
        "put it back, or close attn and bring back a copy with `attn restore FILE`",
        "请把它放回原处，或退出 attn 后用 `attn restore FILE` 恢复一份副本",
    ),
    _T("close attn and start it again", "请退出 attn 后重新启动"),
    _T("the database {path} is replaced again and again", "数据库 {path} 不断被替换"),
    _T("another attn is writing to it", "另一个 attn 正在写入"),
    _T("try again when that one is done", "请等它结束后重试"),
    _T("another attn has {path} open", "另一个 attn 正打开着 {path}"),
    _T("close it first, then try again", "请先关闭它再重试"),
    _T(
        "the database {path} was written by a newer attn (format {version}, this one knows {known})",
        "数据库 {path} 由更新版本的 attn 写成（格式 {version}，本版本只认识到 {known}）",
    ),
    _T("install the newer version, or name another folder with --home", "请安装新版本，或用 --home 指定别的目录"),
    _T("{path} is an SQLite database of something else", "{path} 是其他程序的 SQLite 数据库"),
    _T("there is no room for {path} ({reason})", "没有空间写入 {path}（{reason}）"),
    _T("{kept} of {rows} rows", "{rows} 条记录中的 {kept} 条"),
    _T("cannot save the rows of {path} ({reason})", "无法抢救 {path} 中的记录（{reason}）"),
    _T("no copy was kept in {folder}: only {free} MiB are free", "没有在 {folder} 留下副本：只剩 {free} MiB 空间"),
    _T("make its parent writable", "请确保上级目录可写"),
    _T("left out {count} damaged row of the log", "有 {count} 条损坏的记录未采用"),
    _T("left out {count} damaged rows of the log", "有 {count} 条损坏的记录未采用"),
    _T("`attn doctor` names it", "`attn doctor` 指出是哪一条"),
    _T("`attn doctor` names them", "`attn doctor` 指出是哪些"),
    _T("the database {path} was empty, so a new one was begun", "数据库 {path} 是空的，已新建一个"),
    _T("the database {path} was gone, so a new one was begun", "数据库 {path} 不见了，已新建一个"),
    _T("`attn doctor --rebuild` looks for its rows", "可用 `attn doctor --rebuild` 找回其中的记录"),
    _T("`attn restore {path}` brings back an earlier one", "可用 `attn restore {path}` 恢复较早的一个"),
    _T("cannot finish the copy {path}", "无法写完副本 {path}"),
    _T("row {id} of the log is not the one kept here", "记录 {id} 与这里保存的不同"),
)

BACKUPS: tuple[_T, ...] = (
    _T("a backup is a database, and is not written to standard output", "备份是数据库文件，不能写到标准输出"),
    _T("`attn backup` writes one", "`attn backup` 可以备份出一个"),
    _T("name the one that `attn backup` wrote", "请给出 `attn backup` 备份出的文件"),
    _T("give a file that `attn backup` wrote", "请给出 `attn backup` 备份出的文件"),
    _T("{file} changes all the time", "{file} 一直在变化"),
    _T(
        "close what writes to it, or copy it with `attn backup`",
        "请关闭正在写入它的程序，或用 `attn backup` 复制",
    ),
    _T(
        "{file} was copied while it was being written: {name} lies beside it",
        "{file} 是在写入过程中复制的：旁边有 {name}",
    ),
    _T("{file} is no database of attn", "{file} 不是 attn 的数据库"),
    _T(
        "{file} was written by a newer attn (format {version}, this one knows {known})",
        "{file} 由更新版本的 attn 写成（格式 {version}，本版本只认识到 {known}）",
    ),
    _T("install the newer one", "请安装新版本"),
    _T("{file} has no log of reviews", "{file} 中没有复习记录"),
    _T("{file} is damaged, or no database at all", "{file} 已损坏，或根本不是数据库"),
    _T("{file} is damaged, its log cannot be read", "{file} 已损坏，读不出其中的记录"),
)

LOGS: tuple[_T, ...] = (
    _T("give a file that `attn export reviews` wrote", "请给出 `attn export reviews` 导出的文件"),
    _T("make the folder writable, or name another", "请确保目录可写，或指定别的目录"),
    _T("export the file again", "请重新导出这个文件"),
    _T("{place}: row {id} is here with another content", "{place}：记录 {id} 与这里的内容不同"),
    _T(
        "one of the two logs is damaged or was changed by hand",
        "两份记录中有一份已损坏，或被人手工改过",
    ),
    _T("other programs keep writing to {folder}", "其他程序不断写入 {folder}"),
    _T("try again when they are done", "请等它们结束后重试"),
    _T("create it where your machines share files", "请在各设备共享文件的地方创建它"),
    _T("{path} is no file, and was left out", "{path} 不是文件，未采用"),
    _T("remove it from the shared folder", "请把它从共享目录中移走"),
    _T("{place}: no line of a review log ({reason})", "{place}：不是复习记录的一行（{reason}）"),
    _T("{problem}; nothing was merged; export the file again", "{problem}；没有合并任何内容，请重新导出这个文件"),
)

ANKI: tuple[_T, ...] = (
    _T(
        "export it from Anki again (File → Export, an .apkg or .colpkg)",
        "请从 Anki 重新导出（文件 → 导出，.apkg 或 .colpkg）",
    ),
    _T(
        "{package} has {count} files inside, which no collection has", "{package} 里有 {count} 个文件，不会是 Anki 集合"
    ),
    _T("{package} holds no Anki collection", "{package} 里没有 Anki 集合"),
    _T(
        "{package} is no Anki package, or a damaged one ({reason})",
        "{package} 不是 Anki 导出的文件，或已损坏（{reason}）",
    ),
    _T("{package} is a damaged Anki package ({reason})", "{package} 是损坏的 Anki 文件（{reason}）"),
    _T(
        "{package} unpacks to more than {most} MiB, which no collection does",
        "{package} 解压后超过 {most} MiB，不会是 Anki 集合",
    ),
    _T("cannot unpack the collection ({reason})", "无法解压 Anki 集合（{reason}）"),
    _T("the collection in {package} is damaged", "{package} 中的集合已损坏"),
    _T(
        "let Anki check it (Tools), then export it from Anki again (File → Export, an .apkg or .colpkg)",
        "请先让 Anki 检查数据库（工具菜单），再重新导出（文件 → 导出，.apkg 或 .colpkg）",
    ),
    _T(
        "{package} has {count} rows in {table}, more than {most}",
        "{package} 的 {table} 中有 {count} 条记录，多于 {most} 条",
    ),
    _T("export one deck at a time", "请每次只导出一个牌组"),
    _T("{package} has more than {most} MiB of text", "{package} 中的文字超过 {most} MiB"),
    _T(
        "{package} takes more time or memory than any collection does",
        "读取 {package} 所需的时间或内存超出了任何 Anki 集合",
    ),
    _T("cannot start what reads {package} ({python}: {reason})", "无法启动读取 {package} 的进程（{python}：{reason}）"),
    _T(
        "make it writable and import again: what is here already counts once",
        "请确保它可写，再重新导入；已有的不会重复计入",
    ),
    _T(
        "the collection in {package} is not as Anki writes it ({reason})",
        "{package} 中的集合不是 Anki 写出的样子（{reason}）",
    ),
    _T(
        "{package} holds no Anki collection that can be read (table {table})",
        "{package} 中没有可读的 Anki 集合（表 {table}）",
    ),
    _T("{path} does not end in a list of cards to add to", "{path} 的末尾不是可以续写的卡片列表"),
    _T("move it away and import again", "请把它移走后再导入"),
    _T(
        "{problem}; correct it first, then import again; nothing was imported",
        "{problem}；没有导入任何内容，请先改正，再重新导入",
    ),
    _T("there is no card to export", "没有可导出的卡片"),
)
