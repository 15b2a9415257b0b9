# SPDX-License-Identifier: GPL-2.0-or-later
"""lines_check.py SOURCE LINES DETAILS: compares the lines of samples in a source file with LINES, what
its language says: a line of the source and a function for each. DETAILS is the output of opreport -d
-g --json. Fails if less than 99.9 % are right."""
import json
import sys

source, lines, details = sys.argv[1:]
with open(lines, encoding="utf-8") as f:
    known = {tuple(row.split(" ", 1)) for row in f.read().split("\n")}
good = total = 0
with open(details, encoding="utf-8") as f:
    for row in json.load(f)["rows"]:
        for place in row["details"] if row["image"] == source else ():
            n = sum(place["samples"])
            total += n
            if (str(place.get("line")), row["symbol"]) in known:
                good += n
            else:
                print(row["symbol"], place)
print(f"{good} of {total} samples have a line of their function")
sys.exit(total < 500 or good < 0.999 * total)
