#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check.py [--calls|--calls-few|--calls-only] TOOLS SESSION_DIR...: checks that all reports of each session
(oprofile_data) agree with each other and with what is stored, whatever their form and options; with --calls
that callers in chains are callers, too; with --calls-few that, but of archives some reports only, and no options
that choose rows; with --calls-only just that. Prints TAP, and what was compared."""
import os
import sys
import time
from collections import Counter

import annotated
import archives
import calls
import chained
import choices
import forms
from reports import Profile

FEW_MERGES = ("cpu", "tid", "tgid", "lib", "cgroup", "comm", "tgid,lib", "cpu,cgroup,unitmask", "all")


def check_all(profile, top, merges=None, few=False):
    """All checks but that of calls, which needs a true session."""
    steps = {
        "forms": lambda: forms.check_forms(profile),
        "sums": lambda: forms.check_sums(profile),
        "stored": lambda: forms.check_stored(profile, top),
        "chains": lambda: chained.check_chains(profile, top),
        "choices": lambda: choices.check_choices(profile),
        "inlines": lambda: choices.check_inlines(profile),
        "merges": lambda: choices.check_merges(profile, merges=merges),
        "annotated": lambda: annotated.check_annotated(profile),
        "archives": lambda: archives.check_archives(profile, archives.FEW if few else None),
    }
    if few:
        del steps["choices"]
    for name, step in steps.items():
        begin = time.time()
        step()
        profile.count("seconds of " + name, time.time() - begin)


def main():
    words = sys.argv[1:]
    option = words[0] if words[0].startswith("--") else ""
    tools, *sessions = words[bool(option):]
    compared, failed = Counter(), 0
    for number, session in enumerate(sessions, 1):
        profile = Profile(os.path.abspath(tools), ".", ["--session-dir=" + session], session)
        top = os.path.join(session, "samples/current")
        if option != "--calls-only":
            check_all(profile, top, FEW_MERGES, option == "--calls-few")
        if option:
            calls.check_calls(profile, top)
        compared.update(profile.checked)
        failed += bool(profile.problems)
        print(f"{'not ok' if profile.problems else 'ok'} {number} - {session}")
        for problem in profile.problems:
            print("#", problem[:1000])
    print(f"1..{len(sessions)}")
    for what, number in sorted(compared.items()):
        print(f"# {what}: {number:.9g}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
