# SPDX-License-Identifier: GPL-2.0-or-later
# Two greenlets that take turns, each in functions of its own. Prints the CPU time of each, in ms.
import sys
import time

from greenlet import greenlet

spent = {"work_one": 0, "work_two": 0}


def spin():
    total = 0
    for i in range(20000):
        total += i & 7


def timed(name):
    begin = time.process_time()
    spin()
    spent[name] += (time.process_time() - begin) * 1000


def work_one():
    while True:
        timed("work_one")
        two.switch()


def deeper(x):
    timed("work_two")
    return x


def work_two():
    while True:
        sorted([1], key=deeper)
        if time.process_time() > float(sys.argv[1]):
            return
        one.switch()


one = greenlet(work_one)
two = greenlet(work_two)
one.switch()
for name, ms in spent.items():
    print(name, int(ms))
