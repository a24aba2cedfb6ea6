"""What Click says by itself, of a command's usage and of a call that it cannot read.

Click finds its own translations with gettext: in compiled catalogues, for the whole process, by the language of the
environment alone. So its finished English is looked up here, like any other line (see `in_chinese`).
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

USAGE: tuple[_T, ...] = (
    _T("Usage: ", "用法："),
    _T("[OPTIONS]", "[选项]"),
    _T("COMMAND [ARGS]...", "命令 [参数]..."),
    _T("[COMMAND] [ARGS]...", "[命令] [参数]..."),
    _T("Options", "选项"),
    _T("Commands", "命令"),
    _T("Positional arguments", "参数"),
    _T("default: {value}", "默认值：{value}"),
    _T("required", "必填"),
)
METAVARS: tuple[_T, ...] = (
    _T("TEXT", "文本"),
    _T("INTEGER", "整数"),
    _T("INTEGER RANGE", "整数"),
    _T("FLOAT", "数值"),
    _T("FLOAT RANGE", "数值"),
    _T("PATH", "路径"),
    _T("FILE", "文件"),
    _T("DIRECTORY", "目录"),
)
"""What stands behind an option for its value, where the command has no name of its own for it."""

USAGE_ERRORS: tuple[_T, ...] = (
    _T("{clause}; see `{path} --help`", "{clause}；用法见 `{path} --help`"),
    _T("there is no command {name}; did you mean {near}?", "没有命令 {name}；是不是 {near}？"),
    _T("there is no command {name}; `attn --help` lists the commands", "没有命令 {name}；`attn --help` 列出所有命令"),
    _T("No such command {name}", "没有命令 {name}"),
    _T("No such command {name}. Did you mean {near}?", "没有命令 {name}；是不是 {near}？"),
    _T("No such command {name}. (Did you mean one of: {near}?)", "没有命令 {name}；是不是其中之一：{near}？"),
    _T("Missing command", "缺少命令"),
    _T("No such option {name}", "没有选项 {name}"),
    _T("No such option {name}. Did you mean {near}?", "没有选项 {name}；是不是 {near}？"),
    _T("No such option {name}. (Did you mean one of: {near}?)", "没有选项 {name}；是不是其中之一：{near}？"),
    _T("Option {name} requires an argument", "选项 {name} 需要一个值"),
    _T("Option {name} requires {count} arguments", "选项 {name} 需要 {count} 个值"),
    _T("Option {name} does not take a value", "选项 {name} 不带值"),
    _T("Missing argument {name}", "缺少参数 {name}"),
    _T("Missing argument {name}. Choose from: {allowed}", "缺少参数 {name}；可选：{allowed}"),
    _T("Missing option {name}", "缺少选项 {name}"),
    _T("Missing option {name}. Choose from: {allowed}", "缺少选项 {name}；可选：{allowed}"),
    _T("Got unexpected extra argument ({words})", "多出了参数（{words}）"),
    _T("Got unexpected extra arguments ({words})", "多出了参数（{words}）"),
    _T("Argument {name} takes {count} values", "参数 {name} 需要 {count} 个值"),
    _T("Invalid value for {name}: {clause}", "{name} 的值不合要求：{clause}"),
    _T("{value} is not a valid integer", "{value} 不是整数"),
    _T("{value} is not a valid integer range", "{value} 不是整数"),
    _T("{value} is not a valid float", "{value} 不是数"),
    _T("{value} is not a valid float range", "{value} 不是数"),
    _T("{value} is not in the range {range}", "{value} 不在范围 {range} 内"),
    _T("{value} is not one of {allowed}", "{value} 不是其中之一：{allowed}"),
    _T("{value} does not match the format {allowed}", "{value} 不符合格式 {allowed}"),
    _T("{value} does not match the formats {allowed}", "{value} 不符合以下任一格式：{allowed}"),
    _T("Directory {path} does not exist", "目录 {path} 不存在"),
    _T("Directory {path} is a file", "{path} 是文件，不是目录"),
    _T("File {path} does not exist", "文件 {path} 不存在"),
    _T("File {path} is a directory", "{path} 是目录，不是文件"),
    _T("Path {path} does not exist", "路径 {path} 不存在"),
    _T("Directory {path} is not readable", "目录 {path} 不可读"),
    _T("Path {path} is not readable", "路径 {path} 不可读"),
    _T("names no folder", "没有写出目录"),
    _T("{value} is no time such as 2026-05-01T09:30:00+02:00", "{value} 不是 2026-05-01T09:30:00+02:00 这样的时间"),
    _T(
        "{value} has no offset; end it with Z or, say, +08:00",
        "{value} 没有时区偏移；请在末尾加上 Z 或 +08:00 之类",
    ),
)
