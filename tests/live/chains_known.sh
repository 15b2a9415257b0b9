#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Unwind tables that can be foreseen are loaded in advance: those of a command's program and its
# libraries before its first sample, those of a process before the first sample after attaching.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
running=
cleanup()
{
	[ -z "$running" ] || kill "$running" 2>/dev/null
}

# known TITLE NAME LEAST: it has so many chains, and none ended because a table was not loaded yet.
known()
{
	opreport --session-dir="$dir/$2" --chains --quality 2>&1 | head -n 12 >"$dir/output"
	chains=$(awk '{ n += $1 } END { print n + 0 }' "$dir/$2/samples/current/stats/"chain_*)
	echo "# $chains chains"
	[ "$chains" -ge "$3" ] && [ "$(stat_of "$2" chain_not_loaded)" = 0 ]
	result $? "$1"
}

ok "a program" profile program --callgraph=64 truth_chains 0.3 50 50
known "  has whole chains from its start" program 500

ok "one that is linked with libraries of its own" profile linked --callgraph=64 truth_images 0.3
has "  which have samples" "libtruth_one" "$dir/linked.images"
known "  has whole chains through them" linked 500

is "a command has the priority that operf was given" \
	"$(nice -n 3 operf --session-dir="$dir/nice" --driver=bpf --callgraph nice 2>/dev/null)" \
	"$(nice -n 3 nice)"

printf '#!/bin/sh\ni=0\nwhile [ $i -lt 200000 ]; do i=$((i + 1)); done\n' >"$dir/work.sh"
chmod +x "$dir/work.sh"
ok "a script" profile script --callgraph=64 "$dir/work.sh"
known "  has those of the program that reads it" script 100

ok "a program without dynamic loader" profile static --callgraph=64 truth_chains_static 0.3 50 50
known "  has whole chains from its start" static 500

# worked SECONDS: the running process has had so much more of a CPU.
worked()
{
	[ $(($(awk '{ print $14 }' "/proc/$running/stat") - begun)) -ge $(($1 * $(getconf CLK_TCK))) ]
}

# Of a name that no other has.
cp "$live/truth_chains" "$dir/known_program"
"$dir/known_program" 600 >/dev/null &
running=$!
begun=0
wait_for worked 1

# begin NAME OPTION...: operf runs, and the process has worked for a second of its time meanwhile.
begin()
{
	session=$1
	shift
	operf --session-dir="$dir/$session" --driver=bpf --rate="$rate" --callgraph=64 "$@" \
		>/dev/null 2>"$dir/$session.log" &
	operf=$!
	wait_for grep -q "Press Ctrl-C" "$dir/$session.log"
	begun=$(awk '{ print $14 }' "/proc/$running/stat")
	wait_for worked 1
	kill -INT "$operf"
	wait "$operf"
}

begin attached --pid="$running"
known "a process has whole chains from the moment on that it is attached to" attached 1000
begin machine --system-wide
opreport --session-dir="$dir/machine" --chains --quality 2>&1 | grep "known_program$" >"$dir/output"
grep -q "^[0-9]* .* complete  *known_program$" "$dir/output" && ! grep -q " not_loaded " "$dir/output"
result $? "as has one that runs when that of the machine begins"
done_testing
