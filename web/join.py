#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""join.py OUT.h PAGE.html STYLE.css MODULE.js...: joins the page, its style and its modules, which are
given in the order in which they need each other, to one HTML file that needs nothing else, and writes
it, compressed, as a C header. With an OUT of another name, writes the page itself.

Imports and the word "export" are removed, so names at the top level must differ: this is checked. Comments that
have lines of their own and indentation are removed, too: each page contains the program.
"""
import base64
import gzip
import hashlib
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def packed(text):
    """The text without indentation and comments."""
    for line in text.splitlines():
        if line.count("`") % 2:
            sys.exit(f"join.py: text between backquotes must be in one line: {line}")
    text = re.sub(r"^\s+", "", text, flags=re.M)
    return re.sub(r"^(?://.*|/\*(?:(?!\*/)[\s\S])*\*/)\n", "", text, flags=re.M)


def declared(text):
    """The names that a module declares at its top level."""
    yield from re.findall(r"^(?:class|(?:async )?function\*?) ([\w$]+)", text, re.M)
    for start in re.finditer(r"^(?:const|let) ", text, re.M):
        depth, name = 0, True
        for part in re.finditer(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[\[({]|[\])}]|[,;]|[\w$]+|=>|\S", text[start.end():]):
            token = part[0]
            depth += (token in ("[", "(", "{")) - (token in ("]", ")", "}"))
            if depth == 0 and token == ";":
                break
            if name and re.match(r"[\w$]", token):
                yield token
            name = depth == 0 and token == ","


def join_modules(paths):
    """The modules as one text."""
    seen, parts = {}, []
    for path in paths:
        text = re.sub(r"^import\b[^;]*;\n", "", read(path), flags=re.M)
        text = re.sub(r"^export ", "", text, flags=re.M)
        for name in declared(text):
            if name in seen:
                sys.exit(f"join.py: {name} is in {seen[name]} and in {path}")
            seen[name] = path
        parts.append(text)
    joined = "".join(parts)
    if "</script" in joined or re.search(r"\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write", joined):
        sys.exit("join.py: the modules must not contain </script or write HTML")
    return packed(joined)


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def join(page, style, modules):
    style, script = packed(read(style)), join_modules(modules)
    policy = (f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
              "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'")
    text = read(page)
    for place, value in (("@POLICY@", policy), ("@STYLE@", style), ("@SCRIPT@", script)):
        if text.count(place) != 1:
            sys.exit(f"join.py: {page} must contain {place} once")
        text = text.replace(place, value)
    return text, policy


def array(name, data):
    lines = (", ".join(str(b) for b in data[i:i + 24]) for i in range(0, len(data), 24))
    numbers = ",\n\t".join(lines)
    return f"static const unsigned char {name}[] = {{\n\t{numbers}\n}};\n"


def header(text, policy):
    packed = gzip.compress(text.encode(), 9, mtime=0)
    served = gzip.compress(re.sub("@(DATA|SECOND|SOURCES)@", "", text).encode(), 9, mtime=0)
    return ("/* Made by web/join.py: the page for a browser, compressed by gzip. */\n#pragma once\n\n"
            f"#define WEB_PAGE_LENGTH {len(text.encode())}\n"
            f"#define WEB_PAGE_POLICY \"{policy}\"\n\n" +
            array("web_page_gz", packed) + array("web_served_gz", served))


def main():
    out, page, style, *modules = sys.argv[1:]
    text, policy = join(page, style, modules)
    with open(out, "w", encoding="utf-8") as f:
        f.write(header(text, policy) if os.path.basename(out).endswith(".h") else text)


if __name__ == "__main__":
    main()
