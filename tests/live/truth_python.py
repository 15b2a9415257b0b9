# SPDX-License-Identifier: GPL-2.0-or-later
# A program whose stacks are known: each kind of work ends in a function that belongs to it alone. Prints
# the CPU time of each kind, in ms.
import re
import sys
import threading
import time


def spin(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def leaf_plain():
    return spin(20000)


def work_plain():
    return leaf_plain()


def leaf_key(x):
    return spin(400) + x


def work_key():  # Python, list.sort in C, Python
    return sorted(range(50), key=leaf_key)


def leaf_matched(match):
    return str(spin(400))


def work_matched():  # two modules, and C in between
    return re.sub("a", leaf_matched, "a" * 50)


def leaf_generator():
    for i in range(50):
        yield spin(400)


def work_generator():
    return sum(leaf_generator())


def leaf_recursive(n):
    return spin(20000) if n == 0 else leaf_recursive(n - 1)


def work_recursive():
    return leaf_recursive(20)


class Compared:
    def __lt__(self, other):
        return spin(400) < 0


def work_compared():
    return max([Compared() for i in range(50)])


def work_thrown():
    for i in range(50):
        try:
            leaf_thrown()
        except ValueError:
            pass


def leaf_thrown():
    spin(400)
    raise ValueError


def work_made():  # code that is made, run and thrown away
    names = {"spin": spin}
    exec("def leaf_made():\n    return spin(20000)\nleaf_made()\n", names)


def work_größe():
    return spin(20000)


def main(seconds):
    kinds = [work_plain, work_key, work_matched, work_generator, work_recursive, work_compared,
             work_thrown, work_made, work_größe]
    spent = dict.fromkeys(kinds, 0)
    end = time.process_time() + seconds
    while time.process_time() < end:
        for kind in kinds:
            begin = time.thread_time_ns()
            for i in range(5):
                kind()
            spent[kind] += time.thread_time_ns() - begin
    for kind in kinds:
        print(kind.__name__, spent[kind] // 1000000, flush=True)


def in_thread(seconds):
    thread = threading.Thread(target=main, args=(seconds,))
    thread.start()
    thread.join()


sys.stdout.reconfigure(encoding="utf-8")
(in_thread if sys.argv[2:] == ["thread"] else main)(float(sys.argv[1]))
