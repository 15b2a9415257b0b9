# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses rows of reports, for interop.py and interop_calls.py."""
import re

STRIPPED = {"libstdc++.so.6.0.30", "libgcc_s.so.1"}  # images with dynamic symbols only


def unnamed(symbol):
    """What stands for a symbol where there is none (NONAME)."""
    return symbol.startswith(("/", "anon (")) or (symbol.startswith("(") and symbol.endswith(")")
                                                  and symbol != "(no symbol here)")


def split_names(text, one_image):
    """Image and symbol: an image may have blanks in its name, but no two in a row, and the
    anonymous ones are longer than their column."""
    text = text.strip()
    anon = re.match(r"(anon \([^)]*\)) (.*)", text)
    if anon:
        return anon[1], " ", anon[2]
    if one_image and not re.match(r"\S+ {2,}", text):
        return "", " ", text
    wide = re.match(r"(.*?\S) {2,}(.*)", text)
    return (wide[1], " ", wide[2]) if wide else text.partition(" ")


def is_outside(symbol):
    """Whether it stands for code in no symbol that the original knows (OUTSIDE); ours is named by
    its place: [FILE+0xADDRESS]."""
    return (symbol == "(no symbol here)" or symbol.endswith("@plt")
            or re.fullmatch(r"\[.*\+0x[0-9a-f]+\]", symbol) is not None)


def percent(count, total):
    value = 100.0 * count / total if count else 0
    if value == 0:
        return "0"
    return "%.1e" % value if value < 0.001 else "%.3f" % value if value >= 99.99995 else "%.4f" % value
