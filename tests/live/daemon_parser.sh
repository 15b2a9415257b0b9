# SPDX-License-Identifier: GPL-2.0-or-later
# Foreign files are read by a process without rights. If it dies of a file, that file is named and
# the daemon continues.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

# The parser's processes, the one that starts the others first.
parsers()
{
	ps -e -o pid=,ppid=,comm= >"$dir/processes"
	awk -v daemon="$1" '$3 == "oprofile-parser" { parent[$1] = $2 }
		END {
			for (p in parent) if (parent[p] == daemon) print p
			for (p in parent) if (parent[parent[p]] == daemon) print p
		}' "$dir/processes"
}

value()
{
	sed -n "s/^$2:[[:blank:]]*//p" "/proc/$1/status" | tr '\t' ' '
}

# named_in_log PATTERN: the daemon's log has such a line.
named_in_log()
{
	grep -q "$1" "$session/samples/oprofiled.log"
}

opcontrol --setup --session-dir="$session" --event=TIMER:500 --callgraph=16
ok "it starts" opcontrol --start
keep_busy
ok "it samples" wait_for received_more_than 200
daemon=$(daemon_pid)
set -- $(parsers "$daemon")
ok "it has a parser, and processes that read" test $# -ge 2
# A process that has just begun is about to give up its rights.
have_no_rights()
{
	set -- $(parsers "$daemon")
	bad=
	for pid; do
		[ "$(value "$pid" CapPrm | tr -d 0)$(value "$pid" CapBnd | tr -d 0)" = "" ] || bad="$bad caps"
		[ "$(value "$pid" NoNewPrivs)" = 1 ] || bad="$bad privs"
		[ "$pid" = "$1" ] || [ "$(value "$pid" Seccomp)" = 2 ] || bad="$bad seccomp"
		ls -l "/proc/$pid/fd" | grep -e "/dev\|$session\|log\|perf\|bpf" && bad="$bad fd"
	done
	[ $# -ge 2 ] && [ -z "$bad" ]
}
has_no_file()
{
	set -- $(parsers "$daemon")
	[ "$(ls -l /proc/"$2"/fd | grep -c ' -> /[a-z]')" = 0 ]
}
ok "they have no rights and no descriptors of ours" wait_for have_no_rights
ok "one reads a file at a time, and has none open" wait_for has_no_file

# All that read are stopped; a new program is what they are at when they are killed. Whether it has come
# to them by then cannot be seen from outside: where it had not, there is another.
hostiles=0
readers_die()
{
	hostiles=$((hostiles + 1))
	set -- $(parsers "$daemon")
	shift
	kill -STOP "$@" 2>/dev/null
	cp "$OP_BUILD_ROOT/tests/live/truth_deep" "$dir/hostile$hostiles"
	"$dir/hostile$hostiles" user 10 >/dev/null 2>&1 &
	hostile=$!
	sleep 2
	kill -KILL "$@" 2>/dev/null
	sleep 1
	kill "$hostile" 2>/dev/null
	named_in_log "warning: /.*: the process that read it was killed by SIGKILL"
}
# It need not be ours: others may run new programs, too.
ok "the file that one died of is named" wait_for readers_die
before=$(status_number samples_received)
ok "the daemon goes on" wait_for received_more_than $((before + 200))
is "  as the same process" "$(daemon_pid)" "$daemon"
others_read() { test "$(parsers "$daemon" | wc -l)" -ge 2; }
ok "another process reads" wait_for others_read
ok "dump" opcontrol --dump
ok "what was given up is counted" test "$(counter parser_lost)" -ge 1
# Samples wait three seconds for what their file is. On a busy machine that is not always enough.
harmless=0
harmless_is_known()
{
	harmless=$((harmless + 1))
	cp "$OP_BUILD_ROOT/tests/live/truth_deep" "$dir/harmless$harmless"
	"$dir/harmless$harmless" user 1 >/dev/null 2>&1
	opcontrol --dump
	grep -q "^$dir/harmless$harmless.*[0-9a-f]\{32\}" "$session/samples/current/images"
}
ok "other files are known" wait_for harmless_is_known
grep "led to" "$session/samples/oprofiled.log" | sed "s/^/# /"
ok "shutdown" opcontrol --shutdown
ok "  ends them all" wait_for test ! -e "/proc/$1"
is "  at once" "$(parsers "$daemon")" ""

# Chains by frame pointers need code of processes, whose reading may take long.
hold_up()
{
	pids=$(for nursery in $(pgrep -P "$daemon" -x 'oprofile-parser|oprofile-opener'); do
		pgrep -P "$nursery"
	done)
	kill -STOP $pids 2>/dev/null
	cp "$OP_BUILD_ROOT/tests/live/truth_deep" "$dir/held_up"
	"$dir/held_up" user 10 >/dev/null 2>&1 &
	hostile=$!
	wait_for named_in_log "took more than .* to read"
	set -- $?
	kill -KILL "$hostile" $pids 2>/dev/null
	return "$1"
}
if may_use perf; then
	rm -rf "$session"
	ok "it starts with frame pointers" opcontrol --start --driver=perf --callgraph-mode=fp
	ok "  it samples" wait_for received_more_than 200
	daemon=$(daemon_pid)
	ok "  what reads files is held up" hold_up
	longest=$(status_number busy_longest_ms)
	echo "# at most $longest ms between two drains"
	ok "  it drains meanwhile" test "${longest%.*}" -lt 2000
	ok "  it ends" opcontrol --shutdown
fi
done_testing
