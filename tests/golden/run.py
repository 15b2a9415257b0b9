#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run.py CASES BUILD [yes]: runs the golden tests in the directory CASES, one per subdirectory:

 session       the samples (see tests/mksession.c) for ./oprofile_data (optional)
 kallsyms, ... other files the case needs
 cmd           a shell script, run in a directory with those files and ./elf, the ELF fixtures;
               "$VALID_XML" copies an XML report and reports if it is not valid,
               "$MKSTREAM" FILE < TEXT makes a stream for oprofiled --replay (see tests/mkstream.c),
               "$MKPERF" FILE < TEXT makes a perf.data (see mkperfdata.py),
               "$TERMINAL" COLUMNS COMMAND runs a command on a terminal,
               "$OPENED" PATH... -- COMMAND says which of the files a command opened,
               "$PAGE" FILE prints what is in a page for a browser (opreport --html),
               "$PPROF" FILE what is in a profile for pprof,
               "$DAEMON" SESSION ANSWERS COMMAND answers in the daemon's place meanwhile,
               "$DEBUGINFOD" for LD_LIBRARY_PATH has a libdebuginfod with a directory as server
 expect.out, expect.err    the expected output (no file: none)
 expect.rc     the expected exit status (no file: 0). If cmd exits with 77, the case is skipped, with
               the last line of its standard error as the reason

With "yes" the tools that read profiles do so in their sandbox, with the same output, else without.
In the output the directory is replaced by @DIR@. Prints TAP. With OP_UPDATE=1 the expected files are
written instead; read the differences before you commit them.
"""
import difflib
import os
import shutil
import subprocess
import sys
import tempfile


def read(path, default=""):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return default


def write(path, text, default):
    if text == default:
        if os.path.exists(path):
            os.remove(path)
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def environment(build):
    here = os.path.dirname(os.path.abspath(__file__))
    return dict(os.environ, PATH=f"{build}/tools:{build}/daemon:" + os.environ["PATH"],
                MKSESSION=os.path.join(build, "tests/golden/mksession"),
                MKSTREAM=os.path.join(build, "tests/golden/mkstream"),
                MKPERF=os.path.join(here, "mkperfdata.py"),
                VALID_XML=os.path.join(here, "valid_xml.sh"),
                TERMINAL=os.path.join(here, "terminal.py"),
                OPENED=os.path.join(here, "opened.py"),
                PAGE=os.path.join(here, "page.py"), PPROF=os.path.join(here, "pprof.py"),
                DAEMON=os.path.join(here, "daemon.py"),
                DEBUGINFOD=os.path.join(build, "tests/fixtures/debuginfod"),
                LC_ALL="C.UTF-8", NO_COLOR="1", OPROFILE_PAGER="", OPROFILE_SYMBOL_CACHE="no",
                OPROFILE_SANDBOX="yes" if sys.argv[3:] == ["yes"] else "no")


def lacks_sandbox(build):
    """Why there is no whole sandbox here; empty if there is."""
    opreport = os.path.join(build, "tools/opreport")
    done = subprocess.run([opreport, "--sandbox", "--session-dir=/none"], capture_output=True, text=True,
                          check=False)
    return done.stderr.partition("--sandbox: ")[2].strip()


def make_session(case, build, work):
    """Puts the case's files and its session into the directory; what went wrong, or an empty string."""
    for name in os.listdir(case):
        if not name.startswith("expect."):
            shutil.copy(os.path.join(case, name), work)
    os.symlink(os.path.join(build, "tests/fixtures/elf-golden"), os.path.join(work, "elf"))
    if not os.path.exists(os.path.join(work, "session")):
        return ""
    with open(os.path.join(work, "session"), encoding="utf-8") as text:
        made = subprocess.run([environment(build)["MKSESSION"], "oprofile_data"], stdin=text, cwd=work,
                              capture_output=True, text=True, check=False)
    return made.stderr if made.returncode else ""


def run_case(case, build, work):
    """What came out: {"out": ..., "err": ..., "rc": ...}."""
    env = environment(build)
    wrong = make_session(case, build, work)
    if wrong:
        return {"out": "", "err": wrong, "rc": "mksession\n"}
    done = subprocess.run(["sh", "-e", "cmd"], cwd=work, env=env, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL)
    text = lambda data: data.decode("utf-8", "replace").replace(work, "@DIR@")
    return {"out": text(done.stdout), "err": text(done.stderr), "rc": f"{done.returncode}\n"}


def main():
    cases, build = (os.path.abspath(path) for path in sys.argv[1:3])
    names = sorted(name for name in os.listdir(cases) if os.path.isdir(f"{cases}/{name}"))
    failed = 0
    why = lacks_sandbox(build) if sys.argv[3:] == ["yes"] else ""
    if why:
        print(f"1..0 # SKIP {why}")
        return 0
    for number, name in enumerate(names, 1):
        # No random name: "0x1" in it would pass for an address.
        work = os.path.join(os.path.realpath(tempfile.gettempdir()), f"optest-{os.getpid()}-{number}")
        os.mkdir(work, 0o700)
        try:
            got = run_case(f"{cases}/{name}", build, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        if got["rc"] == "77\n":
            why = (got["err"].splitlines() or ["no reason given"])[-1]
            print(f"ok {number} - {name} # SKIP {why}")
            continue
        differs = False
        for key, default in (("out", ""), ("err", ""), ("rc", "0\n")):
            path = f"{cases}/{name}/expect.{key}"
            if os.environ.get("OP_UPDATE"):
                write(path, got[key], default)
            want = read(path, default)
            differs |= got[key] != want
            for line in difflib.unified_diff(want.splitlines(), got[key].splitlines(),
                                             f"expected {key}", f"printed {key}", lineterm=""):
                print("# " + line)
        failed += differs
        print(f"{'not ok' if differs else 'ok'} {number} - {name}")
    print(f"1..{len(names)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
