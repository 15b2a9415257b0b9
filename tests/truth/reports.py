# SPDX-License-Identifier: GPL-2.0-or-later
"""The reports of one session, each made once and parsed into the same form, for the checkers.

    profile = Profile(tools, work, ["--session-dir=s"])
    rows = profile.rows("-l")                    # from --json
    profile.text("-l", "-n"), profile.csv("-l"), profile.xml("-l"), profile.chains("--children")
    profile.problem("check", "what disagrees")   # collected in profile.problems
"""
import csv
import io
import json
import os
import subprocess
import xml.etree.ElementTree as ElementTree
from collections import namedtuple

# A row of a report: kind is "row", "detail", "caller" or "callee"; name is the symbol, or the reason why
# there is none.
Row = namedtuple("Row", "kind image app name address file line samples percent")

# What CSV calls the reasons that JSON gives in words (opreport(1), SYMBOLS).
REASONS = {"unnamed": "(no symbol here)", "no-symbols": "(no symbols)", "no-file": "(file not found)",
           "unreadable": "(file not readable)", "changed": "(file has changed)",
           "anonymous": "(anonymous memory)"}


class Failed(Exception):
    """A tool that refuses a report."""


class Profile:
    def __init__(self, tools, work, words, name="session"):
        self.tools, self.work, self.words, self.name = tools, work, list(words), name
        self.problems, self.checked, self.cache = [], {}, {}

    def problem(self, check, *words):
        self.problems.append(f"{self.name}: {check}: " + " ".join(str(word) for word in words))

    def count(self, what, number=1):
        """Counts what was compared, for the summary at the end."""
        self.checked[what] = self.checked.get(what, 0) + number

    def equal(self, check, one, other, *words):
        self.count(check)
        if one != other:
            self.problem(check, one, "is not", other, *words)

    def same_keys(self, check, one, other, most=4):
        """Compares two dictionaries of numbers; a missing key is 0."""
        keys = [key for key in {**one, **other} if one.get(key, 0) != other.get(key, 0)]
        self.count(check, len(one))
        for key in sorted(keys, key=str)[:most]:
            self.problem(check, key, one.get(key, 0), "is not", other.get(key, 0))
        if len(keys) > most:
            self.problem(check, f"... and {len(keys) - most} others")

    def run(self, tool, *options):
        """Exit status, output, messages."""
        command = [os.path.join(self.tools, tool), *self.words, *options]
        if tuple(command) not in self.cache:
            done = subprocess.run(command, cwd=self.work, capture_output=True, check=False,
                                  stdin=subprocess.DEVNULL)
            decode = lambda data: data.decode("utf-8", "backslashreplace")
            self.cache[tuple(command)] = done.returncode, decode(done.stdout), decode(done.stderr)
        return self.cache[tuple(command)]

    def output(self, tool, *options):
        status, text, messages = self.run(tool, *options)
        if status:
            raise Failed(f"{tool} {' '.join(options)}: {messages.strip()}")
        return text

    def text(self, *options):
        return self.output("opreport", *options)

    def json(self, *options):
        report = json.loads(self.text(*options, "--json"))
        for chain in report.get("chains", []):
            chain["frames"] = [report["functions"][i] for i in chain["frames"]]
        return report

    def rows(self, *options):
        return [row for given in self.json(*options)["rows"] for row in json_rows(given)]

    def csv(self, *options):
        return csv_rows(self.text(*options, "--csv"))

    def xml(self, *options):
        return ElementTree.fromstring(self.text(*options, "--xml"))

    def classes(self, *options):
        return self.json(*options)["classes"]

    def totals(self, *options):
        """{event: samples} of all classes."""
        found = {}
        for each in self.classes(*options):
            key = event_of(each)
            found[key] = found.get(key, 0) + each["samples"]
        return found

    def events(self):
        return sorted(self.totals())

    def has_chains(self):
        return self.run("opreport", "--folded", f"event:{self.events()[0][0]}")[0] == 0


# A count in a text, or time off the CPU in milliseconds.
COUNT = r"\d+(?:\.\d{3})?"


def count_of(text):
    """Of samples, or of microseconds off the CPU."""
    return int(text.replace(".", ""))


def event_of(each):
    mask = each["unit_mask"]
    return each["event"], each["count"], mask if mask == "all" else int(mask, 0)


def name_of(given):
    return given.get("symbol") or given.get("why", "")


def json_row(kind, given, parent=None):
    owner = parent or given
    return Row(kind, owner["image"], owner.get("app", ""), name_of(owner),
               int(given.get("address", "0"), 16), given.get("file", ""), given.get("line", 0),
               tuple(given["samples"]), tuple(given.get("percent", ())))


def json_rows(given):
    """The row, then its details, callers and callees."""
    yield json_row("row", given)
    for detail in given.get("details", ()):
        yield json_row("detail", detail, given)
    for kind in "caller", "callee":
        for other in given.get(kind + "s", ()):
            yield json_row(kind, other)


def csv_rows(text):
    """The same from a table; its first line names the columns."""
    lines = csv.reader(io.StringIO(text), lineterminator="\n")
    names = next(lines)
    at = {name: index for index, name in enumerate(names)}
    samples = [i for i, name in enumerate(names) if name == "samples" or name.startswith("samples ")]
    percent = [i for i, name in enumerate(names) if name == "percent" or name.startswith("percent ")]
    found = []
    for cells in lines:
        cell = lambda name, cells=cells: cells[at[name]]
        kind = cell("kind")
        found.append(Row(kind if kind in ("detail", "caller", "callee") else "row", cell("image"),
                         cell("app"), cell("symbol") or REASONS.get(kind, ""),
                         int(cell("address") or "0", 16), cell("file"), int(cell("line") or 0),
                         tuple(int(cells[i]) for i in samples),
                         tuple(float(cells[i]) for i in percent)))
    return found


def add_up(rows, key):
    """{key(row): samples of all classes added up}."""
    found = {}
    for row in rows:
        found[key(row)] = found.get(key(row), 0) + sum(row.samples)
    return found
