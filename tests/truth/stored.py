# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a session's sample files and call chains as opsample(5), opmanifest(5) and opchains(5) describe
them, without any code of the tools.

    for sample_file in sample_files("oprofile_data/samples/current"):
        sample_file.event, sample_file.image, sample_file.counts      # {offset: count}
    for chain in chains("oprofile_data/samples/current"):
        chain.app, chain.event, chain.end, chain.count, chain.frames  # [(image, offset)], innermost first
"""
import os
import re
import struct
from collections import namedtuple

HEADER_0x13, HEADER_0x12 = 72, 88
NODE, CHAIN_HEADER = 16, 32
MARKS = ("{root}", "{kern}", "{cgroup}", "{comm}", "{anon")

SampleFile = namedtuple("SampleFile", "path app image event tasks cgroup comm counts")
Image = namedtuple("Image", "kind tgid start end name kernel")
Chain = namedtuple("Chain", "app event end tasks count frames")


def unsigned(text):
    """Counts and unit masks in names are 32 bits wide and printed as signed."""
    return int(text) & 0xffffffff


def split_spec(spec):
    """(event, count, unit mask), (tgid, tid, cpu) of the last part of a path."""
    name, count, mask, tgid, tid, cpu = spec.rsplit(".", 5)
    return (name, unsigned(count), unsigned(mask)), (tgid, tid, cpu)


def image_name(parts):
    """The image that the components of a path name, as reports call it."""
    mark, rest = parts[0], parts[1:]
    if mark == "{root}":
        return "/" + "/".join(rest)
    if mark == "{kern}":
        return "/".join(rest)
    return f"anon:{mark[6:-1]}"


def is_image(parts):
    if not parts:
        return False
    if parts[0] in ("{root}", "{kern}"):
        return len(parts) > 1
    return parts[0].startswith("{anon:") and re.fullmatch(r"\d+\.0x[0-9a-f]+\.0x[0-9a-f]+", parts[-1])


def read_counts(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"DAE\n":
        return None
    header = {0x13: HEADER_0x13, 0x12: HEADER_0x12}[struct.unpack_from("I", data, 4)[0]]
    size, used = struct.unpack_from("II", data, header)
    nodes = data[header + 32 + NODE:header + 32 + NODE * min(used, size)]
    return {key: count for key, count in struct.iter_unpack("QI4x", nodes)}


def sample_files(top):
    """All files of samples; those of calls are left out."""
    for place, directories, files in os.walk(os.fsencode(top)):
        directories.sort()
        parts = os.fsdecode(os.path.relpath(place, os.fsencode(top))).split("/")
        if not parts[0].startswith(MARKS):
            continue
        cgroup = None
        if parts[0] == "{cgroup}":
            begin = next((i for i, part in enumerate(parts[1:], 1) if part.startswith(MARKS)), 0)
            cgroup, parts = "/" + "/".join(parts[1:begin]), parts[begin:]
        comm = None
        if parts[0] == "{comm}":
            comm, parts = "".join(parts[1:2]), parts[2:]
        cuts = [i for i, part in enumerate(parts) if part == "{dep}" and is_image(parts[:i])
                and is_image(parts[i + 1:])]
        calls = [i for i, part in enumerate(parts) if part == "{cg}" and is_image(parts[i + 1:])]
        if len(cuts) != 1 or calls:
            continue
        for name in sorted(os.fsdecode(file) for file in files):
            path = os.path.join(os.fsdecode(place), name)
            counts = None if name.endswith(".jo") else read_counts(path)
            if counts is not None:
                event, tasks = split_spec(name)
                yield SampleFile(path, image_name(parts[:cuts[0]]), image_name(parts[cuts[0] + 1:]),
                                 event, tasks, cgroup, comm, counts)


def has_call_files(top):
    return any("{cg}" in directories for _, directories, _ in os.walk(top))


def unescape(word):
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n"}.get(m[1], m[1]), word)


def read_names(path):
    images, contexts = [None], [None]
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for line in file:
            words = [unescape(word) for word in line.rstrip("\n").split("\t")]
            if words[0] == "image":
                images.append(Image(words[1], *(int(word) for word in words[2:5]), words[5],
                                    words[6:7] == ["kernel"]))
            elif words[0] == "context":
                name, count, mask = words[2].rsplit(".", 2)
                contexts.append((int(words[1]), (name, unsigned(count), unsigned(mask)), words[3],
                                 tuple(words[4:])))
    return images, contexts


def records(path, kind, size):
    with open(path, "rb") as file:
        data = file.read()
    magic, order, version, what, bytes_each, number, _ = struct.unpack_from("8s6I", data)
    if (magic, order, version, what, bytes_each) != (b"OPCHAINS", 0x01020304, 1, kind, size):
        raise ValueError(f"{path}: not as opchains(5) says")
    return list(struct.iter_unpack("Q" if kind == 1 else "3I", data[CHAIN_HEADER:][:number * size]))


def pairs(top):
    """The numbers of the store's pairs of files."""
    names = os.listdir(top) if os.path.exists(top) else []
    return sorted(int(name[6:]) for name in names if re.fullmatch(r"nodes\.[0-9]+", name))


def chains(top):
    """Every chain of the store that has samples."""
    top = os.path.join(top, "chains")
    for number in pairs(top):
        images, contexts = read_names(os.path.join(top, f"names.{number}"))
        places = records(os.path.join(top, f"places.{number}"), 1, 8)
        nodes = records(os.path.join(top, f"nodes.{number}"), 2, 12)
        for index, (_, _, count) in enumerate(nodes):
            if not count:
                continue
            frames = []
            while nodes[index][0]:
                place = places[nodes[index][1]][0]
                offset = place & ((1 << 48) - 1)
                frames.append((images[place >> 48], offset | (0xffff << 48 if offset >> 47 else 0)))
                index = nodes[index][0]
            app, event, end, tasks = contexts[nodes[index][1]]
            yield Chain(images[app], event, end, tasks, count, frames)
