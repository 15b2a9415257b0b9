#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user of operf sees: messages, exit statuses, signals, sessions.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1

fails "nothing to profile" 2 operf
has "says what can be" "a command, --pid or --system-wide"
fails "two things to profile" 2 operf --pid=$$ true
has "are one too many" "cannot be combined"
fails "an unknown option" 2 operf --evnets=x true
fails "an unknown level of verbosity" 2 operf --verbose=x true
has "names those there are" "none, info, debug"
fails "a misspelt event" 1 operf --events=CPU_CLK_UNHALTD true
has "names the nearest" "did you mean CPU_CLK_UNHALTED"
fails "a count below the minimum" 1 operf --events=CPU_CLK_UNHALTED:1 true
has "names the minimum" "Count 1 for event CPU_CLK_UNHALTED is below the minimum"
fails "a rate of nothing" 2 operf --rate=0 true
fails "no such process" 1 operf --pid=2147483647
has "is said" "no process 2147483647"
fails "no such command" 127 operf no-such-command
has "is said" "no-such-command: command not found"
fails "no such path" 127 operf ./no-such-command
printf 'text\n' >text
fails "a file that is no program" 126 operf ./text
has "is said" "./text: Permission denied"
ok "nothing of that has made a session" test ! -e oprofile_data
fails "a kernel image that is not there" 1 operf --vmlinux=./no-such-vmlinux true
fails "a session where none can be" 1 operf --session-dir="$dir/text" true
has "is said, with its path" "$dir/text"

fails "the command's exit status" 3 operf sh -c 'exit 3'
fails "the command's signal" 143 operf sh -c 'kill -TERM $$'
ok "options of the command are the command's" operf sh -c 'test "$1" = --pid=1' sh --pid=1

fails "a rate that leaves time for nothing" 1 operf --rate=20000 true
has "names the way out" "--force"
ok "a command that does nothing" operf --events=PAGE_FAULTS:1000000000 true
has "says that nothing was sampled" "profile longer, or lower the count"
ok "a command that computes" operf truth_chains 0.3
has "says that it starts" "operf: Profiler started"
has "says that it ends" "Profiling done"
has "says how much there is" "operf: [1-9][0-9]* samples, "
has "says how to see it" "opreport"
first=$(sed -n 's/^operf: \([0-9]*\) samples.*/\1/p' "$dir/output")
ok "the profile is in ./oprofile_data" test -d oprofile_data/samples/current

ok "one more" operf truth_chains 0.3
ok "moves it to previous" test -d oprofile_data/samples/previous
opreport -l --session-dir=oprofile_data session:previous >previous 2>&1
opreport -l --session-dir=oprofile_data >before 2>&1
ok "appending" operf --append truth_chains 0.3
opreport -l --session-dir=oprofile_data >after 2>&1
is "the previous one is whole" "$(sum_of previous)" "$first"
ok "and adds to the current one" test "$(sum_of after)" -gt "$(sum_of before)"

ok "a counter and an event of the kernel" operf --events=CPU_CLK_UNHALTED,PAGE_FAULTS:1 \
	truth_chains 0.3
cp "$dir/output" two.log
if grep -q "timer mode" two.log; then
	has "without a counter the clock takes its place, with a warning" \
		"warning: \(bpf\|perf\): .* by PAGE_FAULTS.*; the clock, .*CPU_CLK_UNHALTED cannot be opened" two.log
fi
ok "are reported" opreport
has "side by side" "PAGE_FAULTS|.*\(TIMER\|CPU_CLK_UNHALTED\)[^|]*|"

ok "threads apart" operf --separate-thread --separate-cpu truth_threads 50
hint=$(sed -n 's/^operf: see them with: opreport//p' "$dir/output")
# shellcheck disable=SC2086 # the words of a command
ok "are shown by the command that operf names" opreport $hint
ok "have their ids in the names" sh -c \
	'find oprofile_data/samples/current -name "*.*.*.[0-9]*.[0-9]*.[0-9]*" | grep -q truth_threads'
mkdir "two words's"
ok "a session elsewhere" operf --session-dir="two words's" truth_chains 0.1
hint=$(sed -n 's/^operf: see them with: opreport//p' "$dir/output")
ok "is named as a shell takes it" sh -c "opreport $hint"
ok "call chains are taken" operf --callgraph --lazy-conversion truth_chains 0.1
ok "and counted by how they end" sh -c 'ls oprofile_data/samples/current/stats/chain_*'
fails "chains of no depth that there is" 2 operf --callgraph=5000 true
has "are refused" "is not a number from 0 to 1024"
fails "an unknown way to find callers" 2 operf --callgraph-mode=lbr true
has "names those there are" "auto, fp, table"

# Signals. A shell has SIGINT ignored in what it starts in the background; operf takes it anyway.
truth_chains 30 >/dev/null &
long=$!
operf --pid=$long >pid.log 2>&1 &
profiler=$!
wait_for grep -q "Press Ctrl-C" pid.log
sleep 0.5
kill -INT $profiler
ok "a profiled process goes on after SIGINT" sh -c "wait_for() { :; }; kill -0 $long"
wait $profiler
is "and operf has ended well" $? 0
has "with its data" "operf: [0-9]* samples*, " pid.log
operf --pid=$long >pid2.log 2>&1 &
profiler=$!
wait_for grep -q "Press Ctrl-C" pid2.log
kill $long
wait $profiler
is "it ends with the process too" $? 0


# Several processes, by their ids and by a name: the profile has these, and ends with the last.
cp "$(command -v truth_chains)" ./first_one
cp "$(command -v truth_chains)" ./other_one
cp "$(command -v truth_chains)" ./stranger
./first_one 3 >/dev/null &
one=$!
./other_one 3 >/dev/null &
two=$!
./stranger 30 >/dev/null &
stranger=$!
ok "two processes" operf -p $one,$two --session-dir=several
wait $one $two
./first_one 3 >/dev/null &
one=$!
wait_for grep -q first_one /proc/$one/comm
ok "the process of a name" operf --name='first_?ne' -d named
wait $one
kill $stranger
wait $stranger 2>/dev/null
opreport --session-dir=several >several.log 2>&1
has "has the first" first_one several.log
has "has the other" other_one several.log
ok "has no stranger" sh -c '! grep stranger several.log'
opreport --session-dir=named >named.log 2>&1
has "has it" first_one named.log
ok "has nothing else" sh -c '! grep stranger named.log'
fails "a name that no process has" 2 operf --name=no-such-name
has "is said" "no running process has this name"

operf truth_chains 30 >signal.log 2>&1 &
profiler=$!
wait_for grep -q "Profiler started" signal.log
kill -TERM $profiler
wait $profiler
is "a signal sent to operf ends the command" $? 143
has "and what was sampled is kept" "Profiling done" signal.log

if [ "$(id -u)" = 0 ]; then
	operf --system-wide >system.log 2>&1 &
	profiler=$!
	wait_for grep -q "Press Ctrl-C" system.log
	truth_chains 0.3 >/dev/null
	fails "a second operf on the session" 1 operf true
	has "names the first" "$profiler"
	kill -INT $profiler
	wait $profiler
	is "the whole machine, until SIGINT" $? 0
	ok "has the program in it" sh -c 'opreport --session-dir=oprofile_data | grep -q truth_chains'

	cp "$(command -v truth_chains)" ./outsider
	./outsider 1000 >/dev/null &
	outsider=$!
	ok "the whole machine, for some time" operf -s --quiet --duration=1 -d some
	fails "or while a command runs" 3 operf -s -d while -- sh -c "truth_chains 0.5; exit 3"
	kill $outsider
	wait $outsider 2>/dev/null
	for of in some while; do
		ok "  has another process" sh -c "opreport --session-dir=$of | grep -q outsider"
	done
	ok "  and the command" sh -c "opreport --session-dir=while | grep -q truth_chains"
	ok "a command, for some time" operf --quiet --duration=1 -d timed sh -c 'while :; do :; done'
	fails "  which may have a status of its own" 4 operf --quiet --duration=1 -d timed \
		sh -c 'trap "exit 4" TERM; while :; do :; done'
fi

# A program that is rebuilt before its report keeps its names.
cp "$(command -v truth_chains)" ./prog
OPROFILE_SYMBOL_CACHE=$dir/cache operf --session-dir=rebuilt ./prog 0.3 >/dev/null 2>&1
rm prog
cp /bin/true prog
ok "a report of a program that was overwritten" sh -c "OPROFILE_SYMBOL_CACHE=$dir/cache \
	opreport -l --session-dir=rebuilt"
has "has the names of the old one" ' prog .* chain_b$'

# Ctrl-C at a terminal, where one can be made: the command gets it once and decides.
if python3 -c 'import os, pty; os.close(pty.openpty()[0])' 2>/dev/null; then
	cat >terminal.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("operf", ["operf", "sh", "-c", "trap 'echo caught >>caught' INT; truth_chains 30; exit 7"])
seen = b""
while b"Profiler started" not in seen or b"share" not in seen:
    seen += os.read(terminal, 4096)
time.sleep(0.3)
os.write(terminal, b"\x03")
try:
    while data := os.read(terminal, 4096):
        seen += data
except OSError:
    pass
print(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
	fails "the status of a command that caught ctrl-C" 7 python3 terminal.py
	is "which it got once" "$(cat caught)" "caught"
else
	skip "the status of a command that caught ctrl-C" "no pseudo terminal can be made here"
fi

done_testing
