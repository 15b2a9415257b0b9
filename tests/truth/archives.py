# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports from both kinds of archive are those of the session, byte for byte."""
import os
import re
import shutil
import tempfile

REPORTS = [("opreport", *options) for options in (
    (), ("-l",), ("-f", "-l", "-w"), ("-d", "-g"), ("-l", "--inlines", "-g"), ("-c",),
    ("-c", "-f", "-w", "-g"), ("--chains",), ("--chains", "--quality"), ("--children",), ("--folded",), ("--folded", "--inlines"),
    ("--json",), ("-l", "--json"), ("-d", "-g", "--json"), ("-c", "--json"), ("--chains", "--json"),
    ("-l", "--csv"), ("-d", "-g", "--csv"), ("-c", "--csv"), ("-X",), ("-X", "-l", "-g"), ("-X", "-d", "-g"),
    ("-X", "-c"), ("-x",), ("-l", "--errors"), ("-l", "-m", "all"))]
FEW = REPORTS[3:12:2] + REPORTS[21:25]
REPORTS += [("opannotate", "-a"), ("opannotate", "-s"), ("opannotate", "-a", "-s")]


def neutral(text):
    """Without the command line, which names the archive. A file that has changed since is not in the
    archive, and why there is no kernel's file depends on where it was looked for."""
    text = re.sub(r'(<profile [^>]*)title="[^"]*"', r"\1", text)
    text = re.sub(r'( <options [^>]*)specification="[^"]*" ?', r"\1", text)
    text = re.sub(r'( <options [^>]*)sessiondir="[^"]*" ?', r"\1", text)
    text = re.sub(r"symbols only: no vmlinux was found .*", "no vmlinux was found", text)
    text = re.sub(r"file has changed|^changed(?=,)", "file not found", text, flags=re.M)
    text = re.sub(r"^no-file(?=,)", "file not found", text, flags=re.M)
    return re.sub(r" \* Command line: .*", "", text)


def archive_words(profile, archive):
    return [word for word in profile.words if not word.startswith("--session-dir=")] + [f"archive:{archive}"]


def first_difference(one, other):
    for number, (a, b) in enumerate(zip(one.splitlines(), other.splitlines()), 1):
        if a != b:
            return f"line {number}: {a[:300]!r} is not {b[:300]!r}"
    return f"{len(one.splitlines())} lines, not {len(other.splitlines())}"


def check_archives(profile, reports=None):
    expected = [(tool, options, profile.run(tool, *options)) for tool, *options in reports or REPORTS]
    for kind in (), ("--compact",):
        directory = tempfile.mkdtemp()
        try:
            archive = os.path.join(directory, "kept")
            status, _, messages = profile.run("oparchive", *kind, "-o", archive)
            if status:
                profile.problem("archive", kind, messages)
                continue
            compare(profile, kind, archive, expected)
        finally:
            shutil.rmtree(directory)


def compare(profile, kind, archive, expected):
    live = profile.words
    profile.words = archive_words(profile, archive)
    for tool, options, report in expected:
        got = profile.run(tool, *options)
        profile.count("archive reports")
        if report[0] != got[0]:
            profile.problem("archive", *kind, tool, *options, "exits", got[0], "not", report[0], got[2])
        elif neutral(report[1]) != neutral(got[1]):
            profile.problem("archive", *kind, tool, *options,
                            first_difference(neutral(got[1]), neutral(report[1])))
    profile.words = live
