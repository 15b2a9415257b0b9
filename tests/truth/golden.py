#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""golden.py BUILD [all|CASE]...: makes sessions of the golden tests again and checks that all reports of
each agree (check.py). Prints TAP.

In the archive of "left-out" other files are missing than in the session, on purpose."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../golden"))
import calls
import check
import run as golden_run
from reports import Profile


# One of each kind: the whole takes minutes.
CASES = ["opannotate/mixed", "opannotate/rest", "opannotate/two-events", "oparchive/chains",
         "oparchive/compact", "oparchive/compact-chains", "opgprof/library-arcs", "opreport/calls-recursion",
         "opreport/cgroups-threads", "opreport/chains-kernel", "opreport/chains-quality",
         "opreport/chains-recursion", "opreport/chains-return", "opreport/cpus", "opreport/details",
         "opreport/hybrid", "opreport/inlines-chains", "opreport/inlines-forms", "opreport/json-details",
         "opreport/threads-of-processes", "opreport/vdso"]


def made_up_calls(build):
    """Whether the check of calls finds that chains of a golden test are made up."""
    work = tempfile.mkdtemp()
    golden_run.make_session(f"{HERE}/../golden/opreport/chains-json", build, work)
    profile = Profile(os.path.join(build, "tools"), work, [])
    calls.check_calls(profile, os.path.join(work, "oprofile_data/samples/current"))
    shutil.rmtree(work)
    return os.uname().machine != "x86_64" or any("no call" in text for text in profile.problems)


def main():
    build = os.path.abspath(sys.argv[1])
    cases = [os.path.dirname(path) for path in sorted(glob.glob(f"{HERE}/../golden/*/*/session"))]
    wanted = sys.argv[2:] or CASES
    failed = number = 0
    os.environ.update(golden_run.environment(build))
    for case in cases:
        name = "/".join(case.split("/")[-2:])
        if name not in wanted and (wanted != ["all"] or name == "oparchive/left-out"):
            continue
        number += 1
        work = tempfile.mkdtemp()
        wrong = golden_run.make_session(case, build, work)
        profile = Profile(os.path.join(build, "tools"), work, [], name)
        if wrong:
            profile.problem("mksession", wrong)
        elif profile.run("opreport")[0] == 0:
            check.check_all(profile, os.path.join(work, "oprofile_data/samples/current"), check.FEW_MERGES)
        shutil.rmtree(work)
        failed += bool(profile.problems)
        print(f"{'not ok' if profile.problems else 'ok'} {number} - {name}", flush=True)
        for problem in profile.problems:
            print("#", problem[:1000].replace(work, "@DIR@"))
    number += 1
    noticed = made_up_calls(build)
    failed += not noticed
    print(f"{'ok' if noticed else 'not ok'} {number} - return addresses after no call are noticed")
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
