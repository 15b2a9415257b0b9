# SPDX-License-Identifier: GPL-2.0-or-later
# Few file descriptors and many programs: sample files are closed and reopened, and nothing is lost, also
# while there is no descriptor at all.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

command -v setpriv >/dev/null || skip_all "needs setpriv"

# Without the right to raise its limit.
start_with_few()
{
	(ulimit -n "$1" && setpriv --bounding-set=-sys_resource \
		opcontrol --session-dir="$session" --separate=library --event=TIMER:997 --start)
}
# Two rounds, so that files that were closed are needed again.
run_many_programs()
{
	for i in $(seq 80) $(seq 80); do
		[ -f "$dir/program$i" ] || cp "$(command -v sh)" "$dir/program$i"
		"$dir/program$i" -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
	done
}

# It needs some 105 for what is no sample file, and a few at once to write counters.
limit=$((120 + 8 * $(nproc)))
ok "it starts" start_with_few "$limit"
ok "many programs run" run_many_programs
ok "dump" opcontrol --dump
ok "  more sample files than descriptors" test \
	"$(find "$session" -name 'TIMER.*' | wc -l)" -gt "$limit"
ok "  not all of them open" test "$(status_number open_files)" -lt "$limit"
is "  none that could not be opened" "$(counter lost_samplefile)" 0
# Afterwards it may have those that are below the highest one that is no sample file.
highest=$(ls -l "/proc/$(daemon_pid)/fd" | sed '/TIMER/d; s/ -> .*//; s/.* //' | sort -n | tail -n 1)
if command -v prlimit >/dev/null; then
	ok "it may have no more descriptors" prlimit --pid "$(daemon_pid)" --nofile="$((highest + 1)):"
	ok "the programs run again" run_many_programs
	opcontrol --dump >/dev/null 2>&1 # which has no descriptor for counters
	ok "it may have as many as before" prlimit --pid "$(daemon_pid)" --nofile="$limit:"
	ok "dump again" opcontrol --dump
	is "  nothing was lost" "$(counter lost_samplefile)" 0
else
	skip "a daemon without descriptors" "needs prlimit"
fi
ok "shutdown" opcontrol --shutdown
is "every sample is accounted for" "$(accounted)" "$(counter sample_received)"
done_testing
