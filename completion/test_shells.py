# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests what zsh and fish offer to complete a line: test_shells.py SHELL COMPLETION_FILE TOOLS_DIRECTORY; prints TAP."""
import os
import pty
import select
import subprocess
import sys
import tempfile
import time

# A line, and everything that is offered for its last word.
OFFERS = [
    ("opreport --preci", {"--precision"}),
    ("opreport --color=", {"auto", "always", "never"}),
    ("opreport --demangle=s", {"short", "smart"}),
    ("operf --callgraph-mode=", {"auto", "fp", "table"}),
    ("operf --separate-c", {"--separate-cpu", "--separate-cgroup", "--separate-comm"}),
    ("opcontrol --separate=lib", {"library"}),
    ("operf --off-cpu=idle,w", {"wakers"}),
    ("opcontrol --separate=thread,cg", {"cgroup"}),
    ("opimport --separate=", {"thread", "cpu", "comm"}),
    ("opcontrol --event=PAGE_FAULTS_M", {"PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ"}),
    ("operf -e PAGE_FAULTS_M", {"PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ"}),
    ("opreport -D n", {"none", "normal"}),
    ("operf trunc", {"truncate"}),
]


def some(shell):
    """A line, and a word that is offered among others: this shell runs, in our cgroup."""
    with open("/proc/self/cgroup", encoding="utf-8") as lines:
        own = [line[3:].rstrip("\n") for line in lines if line.startswith("0::")]
    return [(f"operf --name={shell[:-1]}", shell)] + [(f"operf --cgroup={path}", path) for path in own]


# Each completion prints what it offers, then a line that ends it.
ZSH = """PS1= PS2=; bindkey -e; fpath=({dir} $fpath); autoload -Uz compinit; compinit -u -D
compadd() {{
	[[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]] && {{ builtin compadd "$@"; return $? }}
	local -a hits; builtin compadd -A hits "$@"; print -rl -- "" "HIT "$^hits; builtin compadd "$@"
}}
offer() {{ _main_complete; print -r -- ""; print -r -- END }}
zle -C offer complete-word offer; bindkey '^I' offer
print -r -- E''ND
"""


class Zsh:
    """An interactive zsh on a pseudo-terminal."""

    def __init__(self, shell, file, directory):
        os.symlink(os.path.abspath(file), os.path.join(directory, "_oprofile"))
        setup = os.path.join(directory, "setup")
        with open(setup, "w", encoding="utf-8") as out:
            out.write(ZSH.format(dir=directory))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvp(shell, [shell, "-f", "-i"])
        self.send(f"source {setup}\n")
        self.read()

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self):
        """Reads to the line that ends a completion."""
        text, end = "", time.monotonic() + 120
        while "END" not in text.splitlines() and time.monotonic() < end:
            if select.select([self.fd], [], [], 1)[0]:
                text += os.read(self.fd, 65536).decode(errors="replace").replace("\r", "")
        return text

    def offers(self, line):
        self.send(line + "\t")
        text = self.read()
        self.send("\x15")
        return {hit[4:].rstrip("=") for hit in text.splitlines() if hit.startswith("HIT ")}

    def close(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


class Fish:
    """Runs fish for each line."""

    def __init__(self, shell, file, _directory):
        self.shell, self.file = shell, os.path.abspath(file)

    def offers(self, line):
        run = subprocess.run([self.shell, "-N", "-c", 'source $argv[1]; complete -C "$argv[2]"', self.file, line],
                             stdout=subprocess.PIPE, text=True, check=True)
        words = {offer.split("\t")[0] for offer in run.stdout.splitlines()}
        return {word if word.startswith("--") and "=" not in word else word.split("=")[-1].split(",")[-1]
                for word in words}

    def close(self):
        pass


def main():
    shell, file, tools = sys.argv[1:]
    os.environ.update(PATH=tools + ":" + os.environ["PATH"], TERM="dumb", LC_ALL="C.UTF-8", COLUMNS="200")
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        os.environ["HOME"] = directory
        tested = (Zsh if os.path.basename(shell) == "zsh" else Fish)(shell, file, directory)
        offers = OFFERS + [(line, {word}) for line, word in some(os.path.basename(shell))]
        for number, (line, expected) in enumerate(offers, 1):
            got = tested.offers(line)
            is_right = got == expected or (number > len(OFFERS) and expected <= got)
            failures += not is_right
            print("ok" if is_right else "not ok", number, "-", line)
            if not is_right:
                print(f"# offers {sorted(got)}, not {sorted(expected)}")
        tested.close()
    print(f"1..{len(offers)}")
    return failures > 0


sys.exit(main())
