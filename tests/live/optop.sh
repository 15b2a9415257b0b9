#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# optop: what the machine does now, as text and in a terminal.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

if [ ! -x "$OP_BUILD_ROOT/tools/optop" ]; then
	skip_all "built without ncurses"
fi
busy_pids=
cp "$(command -v sh)" "$dir/busyloop"
"$dir/busyloop" -c 'while :; do :; done' &
busy_pids="$busy_pids $!"

screens="tmux -L optop-$$ -f /dev/null"
cleanup()
{
	kill $busy_pids 2>/dev/null
	$screens kill-server 2>/dev/null
	stop_all
	wait
}

# value FILE KEY: the percentage before the name in a table.
share_of()
{
	awk -v name="$2" '$NF == name { print int($1); exit }' "$1"
}

left_before=$(ls -d /dev/shm/optop-scratch.* /var/tmp/optop-scratch.* 2>/dev/null | wc -l)

ok "without a daemon it samples by itself" sh -c \
	"optop --batch -n 3 --delay=2 --view=apps >'$dir/apps'"
ok "  the busy program is there" grep -q busyloop "$dir/apps"
ok "  with a share" sh -c \
	"awk '\$NF == \"busyloop\" { n = \$1 + 0 } END { exit !(n > 2) }' '$dir/apps'"
ok "  and the line of quality" grep -q "CPU-s  .*lost" "$dir/apps"
ok "functions come with their totals and images" sh -c \
	"optop --batch -n 2 --delay=2 >'$dir/functions' && grep -q 'TOTAL %' '$dir/functions' &&
	grep -q 'busyloop\$' '$dir/functions'"
ok "  and say how many call chains are whole" grep -q "whole" "$dir/functions"
ok "a specification narrows it" sh -c \
	"optop --batch -n 2 --delay=2 image:'$dir/busyloop' >'$dir/one' &&
	! grep -q ' optop\$' '$dir/one' && grep -q 'busyloop\$' '$dir/one'"
is "its own session is gone" "$(ls -d /dev/shm/optop-scratch.* /var/tmp/optop-scratch.* 2>/dev/null | wc -l)" \
	"$left_before"

fails "a directory that is not there is refused" 1 optop --batch --session-dir="$dir/none"
ok "  with a remedy" sh -c \
	"optop --batch --session-dir='$dir/none' 2>&1 | grep -q 'opcontrol --session-dir=.* --start'"
mkdir -p "$dir/without"
ok "without a daemon in a directory, it samples by itself and says so" sh -c \
	"optop --batch -n 2 --delay=2 --view=apps --session-dir='$dir/without' >'$dir/apps' 2>'$dir/said' &&
	grep -q busyloop '$dir/apps' && grep -q 'no daemon samples into .*/without' '$dir/said'"
is "  and leaves the directory alone" "$(ls -A "$dir/without")" ""
ok "what has no samples is an empty table, with its quality" sh -c \
	"optop --batch image:/bin/nothing >'$dir/nothing' 2>'$dir/said' &&
	[ \"\$(wc -l <'$dir/nothing')\" = 1 ] && grep -q ' lost' '$dir/nothing' && grep -q 'no sample file matches' '$dir/said'"
fails "a window that is none is refused" 2 optop --batch --window=soon
fails "a terminal is needed for the screen" 2 optop

ok "a daemon starts" opcontrol --session-dir="$session" --callgraph=64 --event=default,OFFCPU --start
sleep 4
ok "it shows what the daemon samples" sh -c \
	"optop --batch -n 2 --delay=2 --session-dir='$session' >'$dir/daemon' &&
	grep -q 'busyloop\$' '$dir/daemon'"
ok "time off the CPU has a view" sh -c \
	"optop --batch -n 2 --delay=2 --session-dir='$session' --view=off-cpu >'$dir/off' &&
	grep -q 's off the CPU' '$dir/off' && grep -q ' libc.so.6\$' '$dir/off'"
ok "  and is not in the others" sh -c "! grep -q 'off the CPU' '$dir/daemon'"
ok "  up to now: the window ends a moment ago, in slices that it had ended" sh -c \
	"opreport --session-dir='$session' time:-8s >'$dir/now' 2>&1 && grep -q busyloop '$dir/now'"

# shown TEXT: waits until the screen has it.
shown()
{
	for _ in $(seq 60); do
		$screens capture-pane -p >"$dir/screen" 2>/dev/null
		! grep -qF -- "$1" "$dir/screen" || return 0
		sleep 0.5
	done
	cat "$dir/screen"
	return 1
}
keys() { $screens send-keys "$@"; }

if ! command -v tmux >/dev/null; then
	skip "the screen" "tmux is missing"
	done_testing
fi
$screens new-session -d -x 80 -y 24 \
	"LC_ALL=C.UTF-8 '$OP_BUILD_ROOT/tools/optop' --session-dir='$session' --delay=1"
ok "the screen shows functions" shown busyloop
ok "  and the command with the same numbers" shown "same numbers: opreport --children event:"
is "  and no line is longer than the terminal" \
	"$(awk 'length($0) > 240' "$dir/screen" | wc -l)" 0
keys 3
ok "another view" shown APPLICATION
keys 6
ok "so has time off the CPU" shown "same numbers: opreport --children event:OFFCPU time:-10s"
ok "  and its name fits into 80 columns" sh -c \
	"sed -n 2p '$dir/screen' | grep -q '6 off-cpu'"
keys 1
ok "  and back" shown "TOTAL %"
keys / n o s u c h
ok "a search that finds nothing says so" shown "in 0 rows"
keys Escape
keys /
keys b u s y l o o p Enter
ok "a search shows what matches" shown "/busyloop"
keys Enter
ok "callers and callees of a function are a page" shown "Call chains:"
keys q
keys a
ok "so are its instructions" shown "opannotate --assembly"
keys q Escape Q
ok "so is the quality" shown "chains end"
keys q p
ok "it can be paused" shown "[paused]"
keys p '?'
ok "help is there" shown "callers and callees of the function"
keys '?' '>'
ok "the window can be longer" shown "time:-30s"
keys q
for _ in $(seq 20); do
	$screens has-session 2>/dev/null || break
	sleep 0.5
done
ok "q ends it" sh -c "! $screens has-session"
ok "the daemon goes on" sh -c "opcontrol --status --json | grep -q '\"state\": \"running\"'"
ok "  and ends" opcontrol --shutdown
done_testing
