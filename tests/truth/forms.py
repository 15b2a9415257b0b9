# SPDX-License-Identifier: GPL-2.0-or-later
"""The four forms of one report have the same numbers: JSON is the reference for CSV, XML and text, and the
sample files are the reference for JSON."""
import re

import stored
from reports import COUNT, Failed, add_up, count_of, event_of

REPORTS = [(), ("-l",), ("-l", "-g"), ("-l", "--inlines"), ("-d", "-g"), ("-c",)]


def close(one, other):
    """CSV has nine digits of a percentage."""
    return len(one) == len(other) and all(abs(a - b) <= 1e-8 * max(abs(a), abs(b), 1)
                                          for a, b in zip(one, other))


def plain(text):
    """Forms differ in how they write what is not printable, so it is not compared."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(c if " " <= c <= "~" else "?" for c in re.sub(r"\\x[0-9a-f]{2}", "?", text))


def check_csv(profile, options, rows):
    """Why there is no symbol is only in the kind of a row, not of its details, callers and callees."""
    table = profile.csv(*options)
    profile.equal("csv", len(table), len(rows), "rows of", options)
    for one, other in zip(table, rows):
        other = other if one.kind == "row" or one.name else other._replace(name="")
        same = [plain(str(cell)) for cell in one[:7]] == [plain(str(cell)) for cell in other[:7]]
        profile.count("csv")
        if not same or one.samples != other.samples or (
                one.kind in ("row", "detail") and not close(one.percent, other.percent)):
            profile.problem("csv", options, one, "is not", other)
            return


def xml_counts(element, classes):
    found = [0] * len(classes)
    for count in element.findall("count"):
        found[classes.index(count.get("class"))] = int(count.text)
    return tuple(found)


def xml_rows(root):
    """{(image, app, name, address): samples of each class added up} of an XML report's symbols."""
    classes = [each.get("name") for each in root.find("classes")]
    table = {each.get("id"): each for each in root.iter("symboldata")}
    found = {}
    for binary in root.findall("binary"):
        for place in [binary, *binary.findall("module")]:
            total = xml_counts(place, classes)
            sums = [0] * len(classes)
            for symbol in place.findall("symbol"):
                data = table[symbol.get("idref")]
                counts = xml_counts(symbol, classes)
                sums = [a + b for a, b in zip(sums, counts)]
                key = (place.get("name"), binary.get("name"), plain(data.get("name")),
                       0 if data.get("unnamed") else int(data.get("startingaddr"), 16))
                found[key] = found.get(key, 0) + sum(counts)
            if table:
                yield "sum", place.get("name"), total, tuple(sums)
            else:
                key = (place.get("name"), binary.get("name"), "", 0)
                found[key] = found.get(key, 0) + sum(total)
    yield "rows", found


def check_xml(profile, options, rows):
    root = profile.xml(*options)
    totals = [int(each.get("total")) for each in root.find("classes")]
    profile.equal("xml", totals, [each["samples"] for each in profile.classes(*options)], options)
    expected = add_up([row for row in rows if row.kind == "row"],
                      lambda row: (row.image, row.app or row.image, plain(row.name), row.address))
    for what, *given in xml_rows(root):
        if what == "sum":
            profile.equal("xml", given[1], given[2], "the symbols of", given[0], options)
        else:
            got = {(plain(k[0]), plain(k[1]), *k[2:]): n for k, n in given[0].items() if n}
            profile.same_keys(f"xml {options}", got, {
                (plain(k[0]), plain(k[1]), *k[2:]): n for k, n in expected.items() if n})
    if "-d" in options:
        got = {}
        for each in root.iter("detaildata"):
            key = int(each.get("vmaoffset"), 16)
            got[key] = got.get(key, 0) + sum(int(count.text) for count in each.findall("count"))
        profile.same_keys("xml details", got, add_up([row for row in rows if row.kind == "detail"],
                                                     lambda row: row.address))


def agrees(printed, value):
    """A percentage as text has four digits after the point, or two that count."""
    return abs(float(printed) - value) <= max(0.00006, abs(value) * 0.06 if value < 0.001 else 0.0005
                                              if value >= 99.9999 else 0)


def symbol_lines(text, classes):
    """(address, counts, percentages, names) of each line with numbers."""
    line = re.compile(r"( *)([0-9a-f]{8,16}) ((?:%s +[\d.e-]+(?: +|$)){%d})(.*)" % (COUNT, classes))
    for given in text.splitlines():
        m = line.fullmatch(given)
        if m:
            cells = m[3].split()
            yield int(m[2], 16), tuple(count_of(n) for n in cells[0::2]), cells[1::2], m[4]


def check_text(profile, options, rows, classes):
    """Lines by symbol; those without an address in JSON have one in the text."""
    text = profile.text(*options, "-w", "-f", "-n", *(["-%"] if "-d" in options else []))
    lines = [(*line[:3], plain(line[3]).rstrip()) for line in symbol_lines(text, classes)]
    rows = [row._replace(name=plain(row.name).rstrip()) for row in rows]
    profile.equal("text", len(lines), len(rows), "rows of", options)
    for (address, counts, percents, names), row in zip(lines, rows):
        good = counts == row.samples and (address == row.address or not row.address) and all(
            agrees(a, b) for a, b in zip(percents, row.percent))
        if row.kind == "row":
            good = good and names.removesuffix(" (inlined)").endswith(row.name)
        profile.count("text")
        if not good:
            profile.problem("text", options, (address, counts, percents, names), "is not", row)
            return


def check_summary(profile, rows, classes):
    """An application has the sum of its images, which are below it."""
    cell = r" *((?:%s +[\d.e-]+ +){%d})(.*)" % (COUNT, classes)
    lines = [re.match(r"(\t?)" + cell, line) for line in profile.text("-n", "-f", "-%").splitlines()]
    got, below = {}, {}
    for m in filter(None, lines):
        counts = tuple(count_of(n) for n in m[2].split()[0::2])
        (below if m[1] else got)[plain(m[3])] = counts
    expected, images = {}, {}
    for row in rows:
        sums = expected.get(plain(row.app or row.image), (0,) * classes)
        expected[plain(row.app or row.image)] = tuple(a + b for a, b in zip(sums, row.samples))
        images.setdefault(plain(row.image), set()).add(row.samples)
    profile.equal("summary", got, expected)
    for name, counts in below.items():
        profile.count("summary")
        if counts not in images.get(name, ()):
            profile.problem("summary", name, counts, "is in no row")


def check_forms(profile):
    for options in REPORTS:
        try:
            rows = profile.rows(*options)
        except Failed:
            continue
        check_csv(profile, options, rows)
        check_xml(profile, options, rows)
        classes = len(profile.classes(*options))
        if profile.run("opreport", *options)[0]:
            continue  # the text has classes in one dimension only (opreport(1), COLUMNS)
        if not options:
            check_summary(profile, rows, classes)
        elif "-c" not in options:
            check_text(profile, options, profile.rows(*options, "-f"), classes)


def check_sums(profile):
    """Rows add up to the total of their class, details to their row, and -l to the summary."""
    images = {}
    for options in REPORTS:
        report = profile.json(*options) if profile.run("opreport", *options, "--json")[0] == 0 else None
        if not report:
            continue
        for index, each in enumerate(report["classes"]):
            profile.equal("sums", sum(row["samples"][index] for row in report["rows"]), each["samples"],
                          options, each)
        for row in report["rows"]:
            if "details" in row:
                profile.equal("details", [sum(n) for n in zip(*(d["samples"] for d in row["details"]))],
                              row["samples"], row["image"], row.get("symbol"))
        found = add_up(profile.rows(*options) if "-c" not in options and "-d" not in options else
                       [row for row in profile.rows(*options) if row.kind == "row"],
                       lambda row: (row.image, row.app))
        images = images or found
        profile.same_keys(f"images of {options}", found, images)


def stored_event(event):
    """The event as names of sample files have it: "msr/tsc/" is "msr~tsc" there."""
    name, count, mask = event
    return re.sub("[/:]", "~", name.removesuffix("/")).replace(",", "+"), count, mask


def check_stored(profile, top):
    """The report has what the sample files have: by event, and by image."""
    files = list(stored.sample_files(top))
    events, images = {}, {}
    for file in files:
        events[file.event] = events.get(file.event, 0) + sum(file.counts.values())
        images[file.image] = images.get(file.image, 0) + sum(file.counts.values())
    totals = {}
    for each in profile.classes():
        totals[stored_event(event_of(each))] = totals.get(stored_event(event_of(each)), 0) + each["samples"]
    profile.same_keys("stored events", totals, {event: n for event, n in events.items() if n})
    known = {plain(name): n for name, n in images.items() if not name.startswith("anon:")}
    found = add_up(profile.rows(), lambda row: plain(row.image))
    profile.same_keys("stored images", {name: found.get(name, 0) for name in known}, known)
