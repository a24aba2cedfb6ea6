"""What in a text of a card is code or formula; the rest is prose."""

from __future__ import annotations

import re

PART = re.compile(
    r"(?P<fence>^ *(?P<ticks>`{3,}+|~{3,}+).*?^ *(?P=ticks)[`~]* *$)"
    r"|(?P<code>(?<!`)(?P<tick>`++).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<escape>\\[\\$])"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?!\s)(?P<inline>[^$\n]*?[^$\s\\])\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)
