#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon separates cgroups: each has a column with its name.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$mount" ] || skip_all "no cgroup2 file system is mounted"
ours=optest.$$
top=$mount/$ours
mkdir "$top" 2>/dev/null || skip_all "no cgroup can be made in $mount"
workers=

cleanup()
{
	# shellcheck disable=SC2086 # numbers
	[ -z "$workers" ] || kill -9 $workers 2>/dev/null
	stop_all
	# A cgroup can be removed when the last of its processes is gone.
	wait
	rmdir "$top/one" "$top/two" "$top" 2>/dev/null
}

# samples CGROUP: those that the report has there.
samples()
{
	opreport --session-dir="$session" --csv --merge=cgroup "cgroup:$1" 2>/dev/null |
		awk -F, 'NR > 1 { n += $9 } END { print n + 0 }'
}

# both_sampled: whether what is on disk has samples enough of both.
both_sampled()
{
	opcontrol --dump && [ "$(samples "/$ours/one")" -gt 100 ] && [ "$(samples "/$ours/two")" -gt 100 ]
}

for name in one two; do
	mkdir "$top/$name"
	sh -c "echo \$\$ >'$top/$name/cgroup.procs' && while :; do :; done" &
	workers="$workers $!"
done
ok "setup" opcontrol --setup --session-dir="$session" --separate=cgroup --event=TIMER:500
has "  is kept" "^SEPARATE_CGROUP=1$" "$OPROFILE_DAEMONRC"
ok "it samples" opcontrol --start
if opcontrol --status | grep -q "^Profiler running: perf" &&
	grep -q '^[^ ]* [^ ]* cgroup [^ ]*perf_event' /proc/self/mounts; then
	skip "cgroups of processes" "perf_event is in a hierarchy of version 1"
	done_testing
fi
ok "samples of both come" wait_for both_sampled
ok "status" opcontrol --status
has "  shows the separation" "^Separate: *cgroup$"
ok "stop" opcontrol --shutdown
ok "the report" opreport --session-dir="$session"
has "  has a column of one" "^Processes in the cgroup /$ours/one$"
has "  and of the other" "^Processes in the cgroup /$ours/two$"
is "above them is what is in them" "$(samples "/$ours")" \
	$(($(samples "/$ours/one") + $(samples "/$ours/two")))
done_testing
