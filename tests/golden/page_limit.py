#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""page_limit.py OPREPORT MKCHAINS MKSESSION CC: a page whose tree and names would not fit into 2 MB (opreport --html) is made to fit:
it says what its tree leaves out, the samples of its functions are those of opreport --children, and those of the rarest ones,
which it adds up, those of opreport --folded. So is one of more programs than it can name. Prints TAP."""
import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile

from page import read_page

OPREPORT, MKCHAINS, MKSESSION, CC = *sys.argv[1:4], sys.argv[4].split()
BYTES_MAX, FUNCTIONS, CHAINS, PROGRAMS, CGROUPS, TASKS_MAX = 2000000, 60000, 130000, 8000, 5000, 2000
EVENT = "CPU_CLK_UNHALTED.100000.0.all.all.all"


def make_library(path):
    """A library of many functions, whose names have nothing in common."""
    lines = []
    for i in range(FUNCTIONS):
        name = "f" + hashlib.sha256(str(i).encode()).hexdigest()[:54]
        lines.append(f".globl {name}\n.type {name},@function\n{name}:\n.zero 16,0x90\n.size {name},.-{name}\n")
    with open(path + ".s", "w", encoding="utf-8") as f:
        f.write(".text\n" + "".join(lines))
    subprocess.run([*CC, "-shared", "-nostdlib", "-o", path, path + ".s"], check=True)


def sums_of(names, stacks):
    """The samples in these functions themselves, and those with any of them in their chain."""
    own = everywhere = 0
    for line in stacks.splitlines():
        chain, samples = line.rsplit(" ", 1)
        frames = chain.split(";")[1:]
        own += int(samples) if frames[-1] in names else 0
        everywhere += int(samples) if not names.isdisjoint(frames) else 0
    return own, everywhere


def make_programs(session):
    """A session of many programs that are gone, some with many samples; returns all samples."""
    lines, samples = [], 0
    for i in range(PROGRAMS):
        name = "/gone/" + base64.urlsafe_b64encode(hashlib.shake_256(str(i).encode()).digest(180)).decode()
        count = PROGRAMS // (i + 1) + 1
        lines.append(f"chain {name} {EVENT} complete {count} {name} 0x10 {name} 0x900")
        samples += count
    lines += [f"file {name} {name} {EVENT}", f"0x10 {samples}"]
    subprocess.run([MKSESSION, session], check=True, input="\n".join(lines) + "\n", text=True)
    return samples


def make_cgroups(session):
    """A session of one program in many cgroups, the later the fewer samples; returns them by cgroup."""
    samples = {f"/machine/{i:06}": CGROUPS - i for i in range(CGROUPS)}
    rare = f"chain /gone/program {EVENT} complete 1 /gone/program 0xffffffffffffffff /gone/program 0x900"
    lines = [f"file /gone/program /gone/program {EVENT}", f"0x10 {sum(samples.values()) + 1}", rare]
    for cgroup, count in samples.items():
        lines += [f"cgroup {cgroup}", f"chain /gone/program {EVENT} complete {count} /gone/program 0x10 /gone/program 0x900"]
    subprocess.run([MKSESSION, session], check=True, input="\n".join(lines) + "\n", text=True)
    return samples


def main():
    number = failed = 0

    def report(name, ok, said=""):
        nonlocal number, failed
        number += 1
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {number} - {name}{'' if ok else f' # {said}'}", flush=True)

    def check_programs(work):
        page, samples = f"{work}/programs.html", make_programs(f"{work}/programs")
        subprocess.run([OPREPORT, f"--session-dir={work}/programs", f"--html={page}"], check=True, stderr=subprocess.DEVNULL)
        head, columns = read_page(page)
        ends, others = head["ends"], head.get("others", {"functions": 0})
        report("many_programs_fit", os.path.getsize(page) <= BYTES_MAX, os.path.getsize(page))
        report("those_with_most_samples_are_drawn", len(columns["func"]) > 2000, len(columns["func"]))
        report("samples_of_all_programs_are_there", sum(columns["self"]) == sum(e["samples"] for e in ends) == head["samples"] == samples,
               (sum(columns["self"]), sum(e["samples"] for e in ends), head["samples"], samples))
        report("images_without_functions_of_their_own_are_together", len(head["images"]) < PROGRAMS and others["functions"] > 1000 and others["count"] == 1, others)

    def check_cgroups(work):
        page, samples = f"{work}/cgroups.html", make_cgroups(f"{work}/cgroups")
        subprocess.run([OPREPORT, f"--session-dir={work}/cgroups", f"--html={page}"], check=True, stderr=subprocess.DEVNULL)
        head, columns = read_page(page)
        found = {}
        for task, count in zip(columns["task"], columns["count"]):
            cgroup = head["tasks"][task][0]
            found[cgroup] = found.get(cgroup, 0) + count
        expected = {cgroup: count for cgroup, count in samples.items() if count > CGROUPS - TASKS_MAX}
        expected[None] = sum(samples.values()) + 1 - sum(expected.values())
        report("cgroups_with_fewer_samples_are_added_up", found == expected and head.get("other_tasks") == CGROUPS + 1 - TASKS_MAX,
               (len(found), found.get(None), expected[None], head.get("other_tasks")))
        kinds = dict(zip(head["functions"]["name"], head["functions"]["kind"]))
        report("rare_places_are_no_code_without_a_symbol", kinds["[rare]"] == 10 and kinds["(file not found)"] == 8, kinds)

    with tempfile.TemporaryDirectory() as work:
        os.environ["OPROFILE_SYMBOL_CACHE"] = "no"
        library, page = f"{work}/lib.so", f"{work}/page.html"
        make_library(library)
        subprocess.run([MKCHAINS, f"{work}/session", str(CHAINS), library], check=True)
        subprocess.run([OPREPORT, f"--session-dir={work}/session", f"--html={page}"], check=True)
        found = json.loads(subprocess.run([OPREPORT, f"--session-dir={work}/session", "--children", "--json"], check=True, capture_output=True).stdout)
        head, columns = read_page(page)
        stacks = subprocess.run([OPREPORT, f"--session-dir={work}/session", "--folded"], check=True, capture_output=True, text=True).stdout
        size, hidden, shown = os.path.getsize(page), head.get("hidden", {}), len(columns["func"])
        expected = {f["symbol"]: (f["self"], f["children"]) for f in found["functions"]}
        rows = dict(zip(head["functions"]["name"][1:], zip(columns["func_self"], columns["func_total"])))
        report("it_fits", size <= BYTES_MAX, size)
        report("its_tree_was_cut_for_that", 1000 < shown <= 75000, shown)
        report("it_says_what_it_does_not_draw", hidden.get("nodes", 0) > 100000 and 0 < hidden.get("samples", 0) < head["samples"] and hidden.get("below", 0) > 1, hidden)
        report("no_sample_is_lost", sum(columns["self"]) == head["samples"] == sum(own for own, _ in expected.values()), (sum(columns["self"]), head["samples"]))
        added_up = {name: rows.pop(name) for name in list(rows) if name.endswith(" other functions")}
        others, rare = head.get("others", {}), set(expected) - set(rows)
        report("functions_are_those_of_opreport", 10000 < len(rows) < len(expected) and rows.items() <= expected.items(), (len(rows), len(expected)))
        report("rare_functions_are_added_up", added_up == {f"{len(rare)} other functions": sums_of(rare, stacks)} and others.get("functions") == len(rare),
               (added_up, others, sums_of(rare, stacks)))
        report("all_of_them_are_rare", max(expected[name][1] for name in rare) == others.get("below", 0) - 1, others)
        check_programs(work)
        check_cgroups(work)
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
