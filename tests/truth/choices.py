# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that choose, order or add up rows change nothing else: --threshold, --top, --sort,
--reverse-sort, --exclude-dependent, --include-symbols, --exclude-symbols, --merge, --inlines."""
from itertools import combinations

from chained import base, file_base
from reports import Failed, add_up, event_of, name_of

PLAIN = ((), ("-l",), ("-d",), ("-l", "--inlines"))
SORTS = ("sample", "image", "app-name", "symbol", "vma")
MERGES = ("cpu", "tid", "tgid", "unitmask", "lib", "cgroup")


def values(row):
    """All a row says, for comparison."""
    return repr(sorted((key, value) for key, value in row.items()))


def event_shares(classes, row):
    """The row's share of each event: the classes of an event are added up."""
    sums, totals = {}, {}
    for each, samples in zip(classes, row["samples"]):
        sums[event_of(each)] = sums.get(event_of(each), 0) + samples
        totals[event_of(each)] = totals.get(event_of(each), 0) + each["samples"]
    return [100 * sums[event] / totals[event] for event in sums if totals[event]]


def check_threshold(profile, options, whole):
    shares = sorted({max(event_shares(whole["classes"], row)) for row in whole["rows"]})
    for percent in {1, round(shares[len(shares) // 2], 3)} if shares else ():
        cut = profile.json(*options, "-t", str(percent))
        kept = [values(row) for row in whole["rows"]
                if max(event_shares(whole["classes"], row)) >= percent]
        profile.equal("threshold", [values(row) for row in cut["rows"]], kept, options, percent)
        check_rest(profile, options, whole, cut, "hidden")


def check_top(profile, options, whole):
    if options:
        for number in (1, len(whole["rows"]) // 2 or 1):
            cut = profile.json(*options, f"--top={number}")
            profile.equal("top", [values(row) for row in cut["rows"]],
                          [values(row) for row in whole["rows"][:number]], options, number)
            check_rest(profile, options, whole, cut, "beyond")


def check_rest(profile, options, whole, cut, member):
    """What is left out is counted, and the totals are the same."""
    rest = cut.get(member)
    left = len(whole["rows"]) - len(cut["rows"])
    profile.equal(member, rest["rows"] if rest else 0, left, options)
    if rest:
        sums = [each["samples"] - sum(row["samples"][index] for row in cut["rows"])
                for index, each in enumerate(whole["classes"])]
        profile.equal(member, rest["samples"], sums, options)
    profile.equal(member, cut["classes"], whole["classes"], options)


def check_order(profile, options, whole):
    """The same rows in another order; by one key they rise."""
    expected = sorted(values(row) for row in whole["rows"])
    back = profile.json(*options, "-r")
    profile.equal("reverse", [values(row) for row in reversed(back["rows"])],
                  [values(row) for row in whole["rows"]], options)
    for key in SORTS if options else ():
        rows = profile.json(*options, "-s", key)["rows"]
        profile.equal("sort", sorted(map(values, rows)), expected, options, key)
        keys = [{"sample": -sum(row["samples"]), "image": file_base(row["image"]),
                 "app-name": file_base(row.get("app", "")), "symbol": name_of(row),
                 "vma": int(row.get("address", "0"), 16)}[key] for row in rows]
        if key != "vma" or all("address" in row for row in rows):
            profile.equal("sort", keys, sorted(keys), options, key)


def check_chosen(profile, options, whole):
    """Rows of one symbol, and all others; rows of applications in their own image."""
    own = profile.json(*options, "-x") if profile.run("opreport", *options, "-x", "--json")[0] == 0 else None
    mine = [row for row in whole["rows"] if row.get("app", row["image"]) == row["image"]]
    if own and all("app" in row for row in whole["rows"]):
        profile.equal("exclude-dependent", add_samples(own["rows"]), add_samples(mine), options)
    names = [row["symbol"] for row in whole["rows"] if row.get("symbol")]
    names = [name for name in names if name.isidentifier()]
    if not options or not names:
        return
    for option, wanted in (("-i", True), ("-e", False)):
        try:
            report = profile.json(*options, option, names[0])
        except Failed:
            continue
        rows = [row for row in whole["rows"]
                if (names[0] in (row.get("symbol"), row.get("linkage_name"))) == wanted]
        profile.equal("symbols" + option, add_samples(report["rows"]), add_samples(rows), names[0])
        rest = report.get("unchosen", {"rows": 0, "samples": [0] * len(whole["classes"])})
        profile.equal("unchosen", rest["rows"], len(whole["rows"]) - len(rows), options, names[0])


def add_samples(rows):
    """{(image, app, name, address): samples}, whatever their percentages."""
    found = {}
    for row in rows:
        key = row["image"], row.get("app"), name_of(row), row.get("address"), row.get("inlined")
        found[key] = found.get(key, 0) + sum(row["samples"])
    return found


def check_choices(profile):
    for options in PLAIN:
        try:
            whole = profile.json(*options)
        except Failed:
            continue
        for check in check_threshold, check_top, check_order, check_chosen:
            check(profile, options, whole)


def merge_lists():
    """Every set of merges, and all."""
    for number in range(1, len(MERGES) + 1):
        for some in combinations(MERGES, number):
            yield ",".join(some)
    yield "all"


def summed(report, by_event):
    """{(event, image, name, address): samples}, whatever the classes and applications."""
    found = {}
    for row in report["rows"]:
        for each, samples in zip(report["classes"], row["samples"]):
            key = by_event(each), row["image"], name_of(row), row.get("address", ""), row.get("inlined")
            found[key] = found.get(key, 0) + samples
    return {key: samples for key, samples in found.items() if samples}


def check_merges(profile, reports=(("-l",), ()), merges=None):
    """Merging adds classes up and loses none."""
    for options in reports:
        try:
            whole = profile.json(*options)
        except Failed:
            continue
        for merge in merges or merge_lists():
            status, _, messages = profile.run("opreport", *options, "-m", merge, "--json")
            if status:
                profile.problem("merge", options, merge, messages)
                continue
            name = lambda each, merge=merge: (each["event"], each["count"]) + (
                () if merge == "all" or "unitmask" in merge else (each["unit_mask"],))
            profile.same_keys(f"merge {merge}", summed(profile.json(*options, "-m", merge), name),
                              summed(whole, name))
            check_classes(profile, profile.json(*options, "-m", merge), merge)


def check_classes(profile, report, merge):
    """What is merged distinguishes no classes, and no two classes are the same."""
    words = merge.split(",")
    gone = {"cpu": "cpu", "tid": "tid", "tgid": "tgid"}
    for word, member in gone.items():
        if word in words or words == ["all"]:
            kinds = {each.get(member) for each in report["classes"]}
            profile.equal("classes", len(kinds) <= 1, True, merge, kinds)
    keys = [(event_of(each), each.get("cgroup"), each.get("comm"), each["tgid"], each["tid"], each["cpu"])
            for each in report["classes"]]
    profile.equal("classes", len(keys), len(set(keys)), merge)
    if "lib" in words or words == ["all"]:
        profile.equal("classes", any("app" in row for row in report["rows"]), False, "apps with", merge)


def check_inlines(profile):
    """--inlines moves samples within an image only."""
    try:
        inlined, rows = profile.rows("-l", "--inlines"), profile.rows("-l")
    except Failed:
        return
    profile.same_keys("inlines", add_up(inlined, lambda row: (row.image, row.app)),
                      add_up(rows, lambda row: (row.image, row.app)))
