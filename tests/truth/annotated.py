# SPDX-License-Identifier: GPL-2.0-or-later
"""opannotate and opgprof have the samples of opreport: instructions those of -d, functions those of -l,
source files those of -d -g, histograms those of -l for one image."""
import bisect
import os
import re
import struct
import tempfile

from chained import is_end
from forms import plain
from reports import COUNT, Failed, count_of, name_of

NUMBERS = r"((?: *" + COUNT + r" +[\d.e-]+)+)"
MARGIN = re.compile(NUMBERS + r" ?:.*")
CODE = re.compile(r"(?:" + NUMBERS + r" |\s*):\s*([0-9a-f]+):\t.*")
FUNCTION = re.compile(r"([0-9a-f]{8,16}) <(.*)>:(?: /\* .* total:" + NUMBERS + r" \*/)?")
IMAGE = re.compile(r"\s*:(.*):     file format .*")
FILE = re.compile(r' \* Total (?:samples|milliseconds off the CPU) for file : "(.*)"')
LEFT_OUT = re.compile(r"^ \* (?:Samples|Milliseconds off the CPU) that are not shown above:$", re.MULTILINE)
REST = re.compile(r" \* " + NUMBERS + r" (.*)")


def counts(numbers):
    return tuple(count_of(n) for n in numbers.split()[0::2])


def plus(one, other):
    return tuple(a + b for a, b in zip(one, other)) if one else other


def left_out(text):
    """What the last comment lists, added up."""
    heads, sums = [*LEFT_OUT.finditer(text)], ()
    for line in text[heads[-1].end():].splitlines() if heads else ():
        m = REST.fullmatch(line)
        sums = plus(sums, counts(m[1])) if m else sums
    return sums


def annotated_code(text):
    """{image: {address: samples}}, {(image, function's address): (name, total)}."""
    code, functions, image = {}, {}, None
    for line in text.splitlines():
        head, insn, function = IMAGE.fullmatch(line), CODE.fullmatch(line), FUNCTION.fullmatch(line)
        if head:
            image = plain(head[1])
        elif function and image:
            key = image, int(function[1], 16)
            functions[key] = function[2], counts(function[3]) if function[3] else ()
        elif insn and image:
            code.setdefault(image, {})[int(insn[2], 16)] = counts(insn[1]) if insn[1] else ()
    return code, functions


def details_by_image(profile):
    """{image: {address: samples}}, {(image, function's address): samples} of all applications, and {name:
    samples} of code made at run time, of which reports show a function's versions as one."""
    places, functions, joined = {}, {}, {}
    for row in profile.json("-d", "-f", "-m", "lib")["rows"]:
        image = plain(row["image"])
        if image.startswith("[JIT "):
            joined[name_of(row)] = plus(joined.get(name_of(row), ()), tuple(row["samples"]))
        if "address" in row:
            key = image, int(row["address"], 16)
            functions[key] = plus(functions.get(key, ()), tuple(row["samples"]))
        for detail in row["details"]:
            at = places.setdefault(image, {})
            address = int(detail["address"], 16)
            at[address] = plus(at.get(address, ()), tuple(detail["samples"]))
    return places, functions, joined


def check_assembly(profile):
    try:
        text = profile.output("opannotate", "-a")
    except Failed:
        return
    code, functions = annotated_code(text)
    places, listed, joined = details_by_image(profile)
    total = left_out(text)
    for image, instructions in code.items():
        starts = sorted(instructions)
        got = {start: instructions[start] for start in starts if any(instructions[start])}
        for numbers in got.values():
            total = plus(total, numbers)
        expected = {}
        for address, samples in places.get(image, {}).items():
            below = bisect.bisect_right(starts, address) - 1
            if below >= 0 and address < starts[below] + 16:
                expected[starts[below]] = plus(expected.get(starts[below], ()), samples)
        shown = {key[1] for key in functions if key[0] == image}
        for start in set(got) | set(expected):
            profile.count("instructions")
            if got.get(start) != expected.get(start) and shown:
                profile.problem("assembly", image, hex(start), got.get(start), "is not", expected.get(start))
    versions = {}
    for key, (name, samples) in functions.items():
        if key[0].startswith("anon "):
            versions[name] = plus(versions.get(name, ()), samples)
        else:
            profile.equal("functions of assembly", samples, listed.get(key), key)
    for name, samples in versions.items():
        profile.equal("functions of assembly", samples, joined.get(name), name)
    profile.equal("assembly", total, tuple(each["samples"] for each in profile.classes("-m", "lib")))


def source_files(text):
    """{file: samples}, {file: sum of its lines} of opannotate --source."""
    files, lines, file = {}, {}, None
    for line in text.splitlines():
        head, margin = FILE.fullmatch(line), MARGIN.fullmatch(line)
        numbers = re.fullmatch(r" \*" + NUMBERS, line)
        if head:
            file = head[1]
        elif LEFT_OUT.match(line):
            break
        elif numbers and file is not None and file not in files:
            files[file] = counts(numbers[1])
        elif margin and file is not None:
            lines[file] = plus(lines.get(file, ()), counts(margin[1]))
    return files, lines


def check_source(profile):
    try:
        text = profile.output("opannotate", "-s")
    except Failed:
        return
    files, lines = source_files(text)
    expected = {}
    for row in profile.json("-d", "-g", "-f", "-m", "lib")["rows"]:
        for detail in row["details"]:
            if "file" in detail:
                expected[detail["file"]] = plus(expected.get(detail["file"], ()), tuple(detail["samples"]))
    total = left_out(text)
    for file, samples in files.items():
        total = plus(total, samples)
        profile.equal("source", lines.get(file), samples, "lines of", file)
        profile.equal("source files", samples, expected.get(file), file)
    profile.equal("source", total, tuple(each["samples"] for each in profile.classes("-m", "lib")))


def histograms(data):
    """{(start, end of a cell): samples} and the arcs {(caller, callee): samples} of a gmon.out."""
    cells, arcs, at = {}, {}, 20
    while at < len(data):
        tag = data[at]
        if tag == 0:
            low, high, size = struct.unpack_from("QQi", data, at + 1)
            first = at + 1 + 16 + 4 + 4 + 15 + 1
            for index, value in enumerate(struct.unpack_from(f"{size}H", data, first)):
                cell = low + (high - low) * index // size, low + (high - low) * (index + 1) // size
                if value:
                    cells[cell] = cells.get(cell, 0) + value
            at = first + 2 * size
        elif tag == 1:
            caller, callee, number = struct.unpack_from("QQi", data, at + 1)
            arcs[caller, callee] = arcs.get((caller, callee), 0) + number
            at += 1 + 20
        else:
            raise ValueError(f"gmon.out: tag {tag}")
    return cells, arcs


def check_gprof(profile, most=6):
    """For the first images that have symbols."""
    if len(profile.events()) != 1:
        return
    images = []
    for row in profile.json("-l", "-f", "-m", "all")["rows"]:
        if row.get("symbol") and row["image"].startswith("/") and row["image"] not in images:
            images.append(row["image"])
    for image in images[:most]:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "gmon.out")
            status, _, messages = profile.run("opgprof", "-o", path, image)
            if status or not os.path.exists(path):
                profile.count("gprof refused")
                continue
            with open(path, "rb") as file:
                cells, arcs = histograms(file.read())
        check_histogram(profile, image, cells, messages)
        check_arcs(profile, image, arcs, messages)


def check_histogram(profile, image, cells, messages):
    """A cell has the samples at its addresses, unless they are in functions that gprof ignores."""
    rows = [row for row in profile.json("-d", "-f", "-m", "all")["rows"] if row["image"] == image]
    left = sum(int(n) for n in re.findall(r"left out: (\d+) of \d+ samples? ", messages))
    total = sum(sum(row["samples"]) for row in rows)
    profile.equal("gprof", sum(cells.values()) + left, total, image)
    here = {}
    for row in rows:
        for detail in row["details"]:
            address = int(detail["address"], 16)
            here[address] = here.get(address, 0) + sum(detail["samples"])
    last = max(cells, default=None)
    for (start, end), value in cells.items():
        # A function's last cell may end before its last byte, and the file's last before padding.
        after = end + (16 if (start, end) == last else 2)
        least = sum(here.get(address, 0) for address in range(start, end))
        most = least + sum(here.get(address, 0) for address in range(end, after))
        profile.count("gprof cells")
        if value > most or value < least and not left:
            profile.problem("gprof", image, hex(start), value, "is not", least, "to", most)


def check_arcs(profile, image, arcs, messages):
    """Calls inside the image."""
    try:
        rows = profile.json("-c", "-f", "-m", "all", "lib-image:" + image)["rows"]
    except Failed:
        return
    calls = sum(sum(caller["samples"]) for row in rows for caller in row["callers"]
                if caller["image"] == image and row["image"] == image
                and not is_end(caller))
    left = re.search(r"left out: (\d+) of \d+ calls?,", messages)
    if arcs or left:
        profile.equal("gprof arcs", sum(arcs.values()) + (int(left[1]) if left else 0), calls, image)


def check_annotated(profile):
    check_assembly(profile)
    check_source(profile)
    check_gprof(profile)
