#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page.py FILE [sources]: prints what a page for a browser (opreport --html) contains: its tree, with the samples
of each node and, after "@", those of each step of time (of each step and task: STEP/TASK); and the facts about the profile. With "sources", prints
which functions have their source in it."""
import base64
import gzip
import json
import re
import struct
import sys


def read_data(data):
    """The head, and the columns by name, of the data of a page; and what these say of nodes (at, self) and functions
    (name, link, address)."""
    length, = struct.unpack_from("<I", data)
    head = json.loads(data[4:4 + length])
    columns = {}
    for name, width, at, count in head["columns"]:
        numbers = struct.unpack_from(f"<{count}{ {1: 'B', 2: 'H', 4: 'I'}[width] }", data, 4 + length + at)
        columns[name] = numbers
    nodes, own, at = [], list(columns["untimed"]), 0
    for after, count in zip(columns["after"], columns["count"]):
        at += after
        nodes.append(at)
        own[at] += count
    columns.update(at=nodes, self=own)
    head["functions"].update(name=head["functions"]["names"][::2], link=head["functions"]["names"][1::2])
    head["functions"]["address"] = [None] + [None if not any(b) else hex(int.from_bytes(b, "little") - 1)
                                             for b in zip(*(columns[f"address{k}"] for k in range(8)))]
    return head, columns


def read_page(path):
    """The data in a page."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    packed = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', text)[1]
    return read_data(gzip.decompress(base64.b64decode(packed)))


def read_sources(path):
    """The sources in a page: how many there were, and those that fitted, by address and image."""
    with open(path, encoding="utf-8") as f:
        packed = re.search(r' id="sources">([^<]*)</script>', f.read())[1]
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    return found["wanted"], dict(found["functions"])


def print_sources(path):
    wanted, functions = read_sources(path)
    print(f"{len(functions)} of {wanted}")
    for key, code in functions.items():
        rows = code.get("instructions", [])
        print(f"{key.split('/')[-1]} {code['symbol']}: {code['samples']}, {sum(row[2] for row in rows)} in instructions")


def totals(columns):
    """For each function: its own samples, and those with it in their chain, each once."""
    own, everywhere = {}, {}
    path = []
    for depth, function, samples in zip(columns["depth"], columns["func"], columns["self"]):
        del path[depth:]
        path.append(function)
        own[function] = own.get(function, 0) + samples
        for one in set(path):
            everywhere[one] = everywhere.get(one, 0) + samples
    return own, everywhere


def main():
    if sys.argv[2:] == ["sources"]:
        print_sources(sys.argv[1])
        return
    head, columns = read_page(sys.argv[1])
    functions, moments = head["functions"], {}
    for i, (at, step, count) in enumerate(zip(columns["at"], columns["step"], columns["count"])):
        task = f"/{columns['task'][i]}" if columns["task"] else ""
        moments.setdefault(at, []).append(f"{step}{task}:{count}")
    for i, (depth, f, own) in enumerate(zip(columns["depth"], columns["func"], columns["self"])):
        image = head["images"][functions["image"][f]] if functions["image"][f] else {"path": "-"}
        when = f" @ {' '.join(moments[i])}" if i in moments else ""
        print(f"{'  ' * depth}{functions['name'][f]} [{image['path'].split('/')[-1]}] kind "
              f"{functions['kind'][f]}, {own}{when}")
    for key in ("format", "event", "hz", "samples", "weight", "squares", "chains", "no_chains", "selection", "options",
                "lost", "hidden", "ends", "unresolved", "steps", "tasks"):
        if key in head:
            print(f"{key}: {json.dumps(head[key])}")


if __name__ == "__main__":
    main()
