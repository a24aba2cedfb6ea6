"""What can be wrong with the database, its backups, merged logs and what Anki exports; see `error_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

DATABASE: tuple[_T, ...] = (
    _T("cannot use {path} ({reason})", "无法使用 {path}（{reason}）"),
    _T("{path} failed ({reason})", "{path} 出错（{reason}）"),
    _T("{path} is damaged ({reason})", "{path} 已损坏（{reason}）"),
    _T("try again: it is made anew from the history", "请重试：它会由学习记录重新生成"),
    _T(
        "every other row counts, and `attn restore FILE` brings back a backup",
        "其余记录照常有效，也可用 `attn restore FILE` 恢复备份",
    ),
    _T("another attn is writing to it", "另一个 attn 正在写入"),
    _T("try again when that one is done", "请等它结束后重试"),
    _T("no copy was kept in {folder}: only {free} MiB are free", "没有在 {folder} 留下副本：只剩 {free} MiB 空间"),
    _T("make its parent writable", "请确保上级目录可写"),
    _T("{file}:{line}: {reason}", "{file} 第 {line} 行：{reason}"),
    _T("{path} lacks rows that it had", "{path} 少了原有的记录"),
    _T("row {number} and all after it are gone", "第 {number} 条及以后的记录不见了"),
    _T("what was recorded is kept, but not shown yet: {reason}", "已记录的内容保存完好，但暂时还看不到：{reason}"),
    _T("`attn restore FILE` brings back a backup", "可用 `attn restore FILE` 恢复备份"),
    _T("it is no line of a history", "这一行不是学习记录"),
    _T("its checksum does not fit", "校验和不符"),
    _T("it has another form; a newer attn may have written it", "格式不同，可能由更新版本的 attn 写成"),
    _T("the byte after it is damaged", "其后的一个字节损坏"),
    _T("its number {number} comes again", "编号 {number} 重复出现"),
    _T("row {number} is missing before it", "前面缺少第 {number} 条记录"),
    _T("rows {first} to {last} are missing before it", "前面缺少第 {first} 到 {last} 条记录"),
)

BACKUPS: tuple[_T, ...] = (
    _T("a backup is a file", "备份是一个文件"),
    _T("name it with -o", "请用 -o 指定"),
    _T("`attn backup` writes one", "`attn backup` 可以备份出一个"),
    _T("name the one that `attn backup` wrote", "请给出 `attn backup` 备份出的文件"),
    _T("{path} is damaged, or no database of attn ({reason})", "{path} 已损坏，或不是 attn 的数据库（{reason}）"),
    _T("give another file", "请换一个文件"),
    _T("{path} has no table of rows", "{path} 中没有记录表"),
    _T("the name of the file is empty", "文件名为空"),
    _T("name the file or folder to merge", "请指定要合并的文件或目录"),
    _T("{path} holds no row that can be used", "{path} 中没有可用的记录"),
)

LOGS: tuple[_T, ...] = (
    _T("make the folder writable, or name another", "请确保目录可写，或指定别的目录"),
    _T("export the file again", "请重新导出这个文件"),
    _T("{place}: row {id} is here with another content", "{place}：记录 {id} 与这里的内容不同"),
    _T(
        "one of the two logs is damaged or was changed by hand",
        "两份记录中有一份已损坏，或被人手工改过",
    ),
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
