# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of call chains agree with each other and with the chain store: --children, --folded, the text of
--chains and -c are computed again from --chains --json."""
import re
from collections import Counter

import stored
from forms import agrees, plain
from reports import COUNT, Failed, count_of, name_of

# The kernel may do something for a task that has no user space.
IN_DOUBT = "fp_end", "no_user", "no_mapping"
RUN_TIME = "java", "javascript", "ruby", "run-time"
ALL = ("--top=1000000000",)


def function_of(frame):
    """Versions of a function that were made at run time are one; reports give the address of any of them."""
    joined = frame["image"].startswith("[JIT ")
    return frame["image"], name_of(frame), 0 if joined else int(frame.get("address", "0"), 16)


def file_base(path):
    """The last part of a path, by which reports are ordered without --long-filenames."""
    return path.rstrip("/").rpartition("/")[2] or path


def base(path):
    """The same as it is shown."""
    if path.partition("#")[0] == "/proc/kallsyms":
        return path.replace("/proc/kallsyms", "[kernel]")
    return file_base(path)


def bracketed(image):
    name = base(image)
    return name if name.startswith("[") else f"[{name}]"


def folded_name(frame):
    name = frame.get("symbol") or bracketed(frame["image"])
    marks = ("_[k]", frame["kernel"]), ("_[j]", frame["kind"] in RUN_TIME), ("_[i]", frame.get("inlined"))
    return stack_word(name + next((mark for mark, is_true in marks if is_true), ""))


def stack_word(name):
    """Semicolons separate functions, so those in a name are replaced."""
    return plain(name).replace(";", ":")


def folded(report):
    """{stack: samples} as --folded writes them; a chain that is not complete begins with the reason."""
    found = Counter()
    for chain in report["chains"]:
        names = [folded_name(frame) for frame in reversed(chain["frames"])]
        reason = [] if chain["end"] == "complete" else [f"[{chain['end']}]"]
        found[";".join([stack_word(base(chain["app"])), *reason, *names])] += chain["samples"]
    return found


def check_folded(profile, options, report):
    lines = Counter()
    for line in profile.text("--folded", *options).splitlines():
        stack, _, samples = line.rpartition(" ")
        lines[plain(stack)] += int(samples)
    profile.same_keys("folded", lines, folded(report))
    stacks = Counter()
    for each in profile.json("--folded", *options)["stacks"]:
        stacks[plain(each["stack"])] += each["samples"]
    profile.same_keys("folded json", stacks, lines)
    profile.equal("folded", sum(lines.values()), report["samples"], "samples", options)


def check_children(profile, options, report):
    children, own = Counter(), Counter()
    for chain in report["chains"]:
        for function in {function_of(frame) for frame in chain["frames"]}:
            children[function] += chain["samples"]
        if chain["frames"]:
            own[function_of(chain["frames"][0])] += chain["samples"]
    got = profile.json("--children", *options)
    listed = Counter()
    for each in got["functions"]:
        listed[function_of(each)] += each["children"]
    profile.same_keys("children", listed, children)
    selves = Counter()
    for each in got["functions"]:
        selves[function_of(each)] += each["self"]
    profile.same_keys("children self", selves, own)
    line = re.compile(rf"({COUNT}) +([\d.e-]+) +({COUNT}) +([\d.e-]+) +(?! *- +\[\w+\]$).*")
    text = [line.match(given) for given in profile.text("--children", *options, *ALL, "-n").splitlines()]
    numbers = [(count_of(m[1]), count_of(m[3])) for m in text if m]
    profile.equal("children text", numbers, [(f["children"], f["self"]) for f in got["functions"]])
    for m in filter(None, text):
        profile.equal("children text", agrees(m[2], 100 * count_of(m[1]) / report["samples"]), True, m[0])


def check_text(profile, options, report):
    """A function that occurs several times in a row is shown once; why a chain ends is below it."""
    shown, frames = [], []
    for line in profile.text("--chains", *options, *ALL, "-n").splitlines():
        head = re.fullmatch(rf"({COUNT}) +([\d.e-]+) +(\S.*)", line)
        # The name, whatever it looks like, comes before the image; a reason has none.
        frame = re.fullmatch(r"    (.*) \[.*\](?: (\d+) times)?", line)
        if head:
            frames = []
            shown.append((count_of(head[1]), frames))
        elif frame:
            frames.append((frame[1], int(frame[2] or 1)))
    expected = [(chain["samples"], len(chain["frames"])) for chain in report["chains"]]
    got = [(samples, sum(times for _, times in frames)) for samples, frames in shown]
    profile.equal("chains text", len(got), len(expected))
    for i, (one, other) in enumerate(zip(got, expected)):
        names = [name_of(frame) for frame in report["chains"][i]["frames"]] if one != other else None
        profile.equal("chains text", one, other, shown[i][1], names)


def check_quality(profile, report):
    ends = Counter()
    for chain in report["chains"]:
        ends[chain["end"]] += chain["samples"]
    told = Counter()
    for each in report["quality"]:
        told[each["end"]] += each["samples"]
    profile.same_keys("quality", told, ends)
    profile.equal("chains", sum(ends.values()), report["samples"], "samples")


def is_end(caller):
    """Whether a caller in -c is the reason why it is not known."""
    return (caller.get("why") or "").startswith("[")


def check_calls(profile, options, report):
    """The callers and callees of -c are the neighbours in chains, or why a chain ends; its own samples are
    those of -l."""
    arcs, ends = Counter(), Counter()
    for chain in report["chains"]:
        functions = [function_of(frame) for frame in chain["frames"]]
        outermost = chain["frames"][-1]
        if chain["end"] != "complete" and not (outermost["kernel"] and chain["end"] in IN_DOUBT):
            end = {"image": outermost["image"], "symbol": None, "why": f"[{chain['end']}]"}
            ends[function_of(end), function_of(outermost)] += chain["samples"]
        for callee, caller in zip(functions, functions[1:]):
            arcs[caller, callee] += chain["samples"]
    calls = profile.json("-c", *options)
    above, below, own = Counter(), Counter(), Counter()
    for row in calls["rows"]:
        own[function_of(row)] += sum(row["samples"])
        for caller in row["callers"]:
            above[function_of(caller), function_of(row)] += sum(caller["samples"])
        for callee in row["callees"]:
            below[function_of(row), function_of(callee)] += sum(callee["samples"])
    profile.same_keys("callers", above, arcs + ends)
    profile.same_keys("callees", below, arcs)
    listed = Counter()
    for row in profile.json("-l", *options)["rows"]:
        listed[function_of(row)] += sum(row["samples"])
    profile.same_keys("self", own, listed)


def check_leaves(profile, options, report):
    """Each sample has its chain: the innermost functions have the samples of -l."""
    leaves = Counter()
    for chain in report["chains"]:
        if chain["frames"]:
            leaves[function_of(chain["frames"][0])] += chain["samples"]
    listed = Counter()
    for row in profile.json("-l", *options)["rows"]:
        listed[function_of(row)] += sum(row["samples"])
    profile.same_keys("leaves", leaves, listed)


def doubted(end):
    """Ends that functions may show to be complete (opreport(1), CALL CHAINS) are one to us."""
    return "complete" if end in ("fp_end", "no_user", "no_mapping") else end


def check_store(profile, top, event, report):
    """The store has the same samples, by application and end, with as many frames."""
    got, expected = Counter(), Counter()
    for chain in stored.chains(top):
        if chain.event == event:
            got[chain.app.name, doubted(chain.end), len(chain.frames)] += chain.count
    for chain in report["chains"]:
        expected[chain["app"], doubted(chain["end"]), len(chain["frames"])] += chain["samples"]
    profile.same_keys("chain store", got, expected)
    profile.count("chains", len(report["chains"]))


def is_complete(top, event):
    """Whether every sample has a chain, and no arcs but those in chains are stored."""
    samples, leaves = Counter(), Counter()
    for file in stored.sample_files(top):
        for offset, count in file.counts.items() if file.event == event else ():
            samples[file.image.partition(":")[0], offset] += count
    for chain in stored.chains(top):
        if chain.event == event:
            image, offset = chain.frames[0]
            leaves["anon" if image.kind == "anon" else image.name, offset] += chain.count
    return samples == leaves and not stored.has_call_files(top)


def check_chains(profile, top):
    for event in profile.events():
        options = (f"event:{event[0]}", f"count:{event[1]}", f"unit-mask:{event[2]}")
        try:
            report = profile.json("--chains", *options)
        except Failed:
            continue
        check_folded(profile, options, report)
        check_children(profile, options, report)
        check_text(profile, options, report)
        check_quality(profile, report)
        check_store(profile, top, event, report)
        if is_complete(top, event):
            profile.count("sessions with all chains")
            check_leaves(profile, options, report)
            check_calls(profile, options, report)
        check_inlined(profile, options, report)


def check_inlined(profile, options, report):
    """Inlined functions add frames; without them the chains are the same."""
    inlined = profile.json("--chains", "--inlines", *options)
    profile.equal("inlined chains", inlined["samples"], report["samples"])
    without = Counter()
    for chain in inlined["chains"]:
        frames = [folded_name(frame) for frame in chain["frames"] if not frame.get("inlined")]
        without[chain["app"], chain["end"], ";".join(frames)] += chain["samples"]
    whole = Counter()
    for chain in report["chains"]:
        whole[chain["app"], chain["end"], ";".join(map(folded_name, chain["frames"]))] += chain["samples"]
    profile.same_keys("inlined chains", without, whole)
