#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""interop_xml.py OPREPORT SCHEMA: compares opreport -X with the XML of OProfile 1.x for the same sessions:
both have each class, binary, module, symbol, address and count. Ours must also be valid against SCHEMA,
if xmllint is installed. Prints TAP.

Deliberate differences, in addition to those of text (OUTSIDE, DYNSYM, ALIAS and NONAME in interop.py,
and those of call graphs in interop_calls.py, because arcs are compared with the text of OProfile 1.x;
"it" is OProfile 1.x):

 FLAT      It nests processes and threads as <process> and <thread>; here they are attributes of
           the class, like the CPU, and a symbol has all its counts in one place.
 BYTES     Its code extends to the next symbol, and is zeros if there is no file or if the symbols
           come from a debug file. Ours ends with the symbol, comes from the binary, and is left out
           if there is none.
 ONEEACH   It has a <detaildata> for each class of an address; here there is one for all."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter

import interop
import interop_rows


class Document:
    """The counts of a document: (event, cpu, pid, tid, app, image, symbol[, address]): count."""

    def __init__(self, text, ours):
        self.root = ET.fromstring(text)
        self.ours = ours
        self.events = {e.get("id"): (e.get("eventname"), e.get("unitmask"), e.get("setupcount"))
                       for e in self.root.find("setup")}
        classes = self.root.find("classes")
        self.classes = {} if classes is None else {c.get("name"): c for c in classes}
        self.symbols = {s.get("id"): s for s in self.root.iter("symboldata")}
        self.bytes = {b.get("id"): b.text.strip() for b in self.root.iter("bytes")}
        self.details = {s.get("id"): {d.get("id"): d for d in s}
                        for s in self.root.iter("symboldetails")}
        self.counts, self.addresses, self.code = Counter(), Counter(), {}
        for top in self.root:
            if top.tag == "binary":
                self.walk(top, top.get("name"), {})
            elif top.tag == "process":
                self.walk(top, top.get("name"), {"pid": top.get("pid")})

    def walk(self, node, app, extra, image=None):
        for child in node:
            if child.tag == "thread":
                self.walk(child, app, dict(extra, tid=child.get("tid")), image)
            elif child.tag == "module":
                self.walk(child, app, extra, child.get("name"))
            elif child.tag == "symbol":
                self.add(child, app, image or app, extra)

    def add(self, symbol, app, image, extra):
        data = self.symbols[symbol.get("idref")]
        name = data.get("name")
        if interop_rows.unnamed(name) or data.get("unnamed"):
            name = "(no symbol here)" if name == "(no symbol here)" else "-"
        where = (app, image, name)
        self.code[where] = self.bytes.get(symbol.get("idref"))
        self.add_counts(self.counts, symbol, where, extra)
        if symbol.get("detaillo"):
            details = self.details[symbol.get("idref")]
            for i in range(int(symbol.get("detaillo")), int(symbol.get("detailhi")) + 1):
                at = details[str(i)]
                self.add_counts(self.addresses, at, where + (at.get("vmaoffset"),), extra)

    def add_counts(self, to, node, where, extra):
        for count in node.findall("count"):
            cls = self.classes.get(count.get("class"))
            get = lambda key: extra.get(key) or (cls.get(key) if cls is not None else None)
            event = self.events[get("event") or "0"]
            to[(event, get("cpu"), get("pid"), get("tid")) + where] += int(count.text)


def differences(theirs, ours, what):
    """Compares two counters, but for what is known to differ."""
    lists = []
    for counts in (theirs, ours):
        known = Counter()
        for key, count in counts.items():
            symbol, image = key[6], key[5]
            if os.path.basename(image) in interop_rows.STRIPPED:  # DYNSYM
                key = key[:6] + ("-",)
            elif interop_rows.is_outside(symbol):  # OUTSIDE
                continue
            elif symbol in interop.ALIASES:  # ALIAS
                key = key[:6] + (interop.ALIASES[symbol],) + key[7:]
            known[key] += count
        lists.append(known)
    for key in sorted(set(lists[0]) | set(lists[1]), key=str):
        if lists[0][key] != lists[1][key]:
            yield f"{what} {key}: {lists[0][key]} != {lists[1][key]}"


def code_differs(theirs, ours):
    for where, code in ours.code.items():
        theirs_code = theirs.code.get(where) or ""
        if code and theirs_code.strip("0") and not theirs_code.startswith(code):
            yield f"code of {where}: {theirs.code[where]} != {code}"


def compare(case, schema):
    result = case.run()
    if result.returncode:
        yield f"exits {result.returncode}: {result.stderr}"
        return
    if schema and shutil.which("xmllint"):
        lint = subprocess.run(["xmllint", "--noout", "--schema", schema, "-"], input=result.stdout,
                              capture_output=True, text=True, check=False)
        if lint.returncode:
            yield lint.stderr
    theirs, ours = Document(case.out, False), Document(result.stdout, True)
    if not theirs.counts or ("-d" in case.words and not theirs.addresses):
        yield "the expectation is empty"
    for attribute in ("cputype", "processor", "mhz"):
        a, b = theirs.root.get(attribute), ours.root.get(attribute)
        if a != b:
            yield f"{attribute} is {a} != {b}"
    yield from differences(theirs.counts, ours.counts, "count of")
    yield from differences(theirs.addresses, ours.addresses, "count at")
    if "-d" in case.words:
        if not any(ours.code.values()):
            yield "no code"
        yield from code_differs(theirs, ours)


def cases(tool, expected):
    for session in sorted(os.listdir(expected)):
        for file in sorted(os.listdir(os.path.join(expected, session))):
            name, ending = os.path.splitext(file)
            if ending != ".cmd" or not name.startswith("xml"):
                continue
            yield interop.Case(tool, session, name, os.path.join(expected, session, name))


def main():
    tool, schema = (os.path.abspath(path) for path in sys.argv[1:3])
    tar = interop.shared()
    if not tar:
        print("1..0 # SKIP no interop data (shared/interop/sessions.tar.xz)")
        return 0
    offered = subprocess.run([tool, "--list-options"], capture_output=True, text=True,
                             check=True).stdout.replace("=", "\n").split()
    failed = number = 0
    with tempfile.TemporaryDirectory(prefix="optest-interop-") as work:
        with tarfile.open(tar) as archive:
            archive.extractall(work)
        os.chdir(os.path.join(work, "archives"))
        for case in cases(tool, os.path.join(work, "expected")):
            number += 1
            missing = interop.not_offered(case.words, offered)
            if missing:
                print(f"ok {number} - {case.session}/{case.name} # SKIP not offered: {missing}")
                continue
            problems = list(compare(case, schema))
            for problem in problems[:10]:
                print("# " + problem.strip().replace("\n", "\n# "))
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - {case.session}/{case.name}")
        print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
