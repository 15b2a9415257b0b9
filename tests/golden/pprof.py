#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof.py FILE: prints what a profile for pprof (opreport --pprof) contains: the types of its values; the samples, the
outermost function first, with their labels; the functions with their address and image; the images with their build-id."""
import gzip
import sys


def number_at(data, at):
    """The number that begins at @at, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """The fields of a message: a list of numbers or bytes for each field."""
    found, at = {}, 0
    while at < len(data):
        key, at = number_at(data, at)
        value, at = number_at(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field is cut"
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0, "a type of fields that is not used"
        found.setdefault(key >> 3, []).append(value)
    return found


def packed(data):
    """The numbers of a packed field."""
    numbers, at = [], 0
    while at < len(data):
        value, at = number_at(data, at)
        numbers.append(value)
    return numbers


def main(path):
    with gzip.open(path) as f:
        profile = fields(f.read())
    texts = [text.decode() for text in profile[6]]
    assert texts[0] == "" and len(set(texts)) == len(texts), "the table of strings"
    functions = {f[1][0]: f for f in map(fields, profile[5])}
    places = {p[1][0]: p for p in map(fields, profile[4])}
    images = {i[1][0]: i for i in map(fields, profile.get(3, []))}

    def name(place):
        return texts[functions[fields(places[place][4][0])[1][0]][2][0]]

    types = [fields(t) for t in profile[1]]
    print("types:", ", ".join(f"{texts[t[1][0]]}/{texts[t[2][0]]}" for t in types))
    if 12 in profile:
        print(f"period: {profile[12][0]}")
    if 10 in profile:
        print(f"seconds: {profile[10][0] / 1e9:g}")
    if 9 in profile:
        print(f"time: {profile[9][0]}")
    for sample in sorted((fields(s) for s in profile[2]), key=lambda s: [-v for v in packed(s[2][0])]):
        labels = [f"{texts[l[1][0]]}={texts[l[2][0]] if 2 in l else l[3][0]}" for l in map(fields, sample.get(3, []))]
        print(";".join(name(p) for p in reversed(packed(sample[1][0]))), *packed(sample[2][0]), *labels)
    for number, place in sorted(places.items(), key=lambda p: name(p[0])):
        function, image = functions[number], images.get(place[2][0])
        linked = texts[function[3][0]]
        print(f"function {name(number)}", f"({linked})" if linked != name(number) else "", f"{place[3][0]:#x}",
              texts[image[5][0]] if image else "-")
    for image in images.values():
        print("image", texts[image[5][0]], texts[image[6][0]] or "-")


main(sys.argv[1])
