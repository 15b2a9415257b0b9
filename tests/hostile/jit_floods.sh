#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of a user that write very much about their JIT code, in the worst order: the daemon answers
# all the time, keeps to its memory, and names the code of others.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v setpriv >/dev/null || skip_all "needs setpriv"

jit=$OP_BUILD_ROOT/tests/live/truth_jit
chmod 755 "$dir"
cp "$jit" "$dir/jit"
cleanup()
{
	end_background
	stop_all
}

# run UID FILE: a process of a user with JIT code, and with that perf map; its pid in $pid. What is said
# of the code itself is in the last line.
run()
{
	as_uid "$1" "$dir/jit" 600
	until grep -q 'r-xp 00000000 00:00 0 *$' "/proc/$pid/maps"; do sleep 0.02; done
	start=$(sed -n 's/^\([0-9a-f]*\)-.* r-xp 00000000 00:00 0 *$/\1/p' "/proc/$pid/maps" | head -n 1)
	{ cat "$2"; echo "$start 1000 named_by_$1"; } >"$dir/names"
	give_map "$1" "$dir/names"
}

# answers SECONDS: opcontrol --status is answered in time all along; the slowest answer in $slowest, ms.
answers()
{
	end=$(($(date +%s) + $1))
	slowest=0
	while [ "$(date +%s)" -lt "$end" ]; do
		before=$(date +%s%3N)
		opcontrol --status >"$dir/output" 2>&1 || return 1
		took=$(($(date +%s%3N) - before))
		[ "$took" -le "$slowest" ] || slowest=$took
	done
	[ "$slowest" -lt 5000 ]
}

# named UID: a report has the name that a user's process gave its code.
named()
{
	opcontrol --dump && opreport --session-dir="$session" -l 2>/dev/null | grep -q "named_by_$1"
}

awk 'BEGIN { for (i = 1000000; i > 0; i--) printf "%x 10 f%d\n", 0x10000000 + i * 16, i }' >"$dir/falling"
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%x 10 %0200d\n", 0x10000000 + i * 16, i }' >"$dir/large"
: >"$dir/none"

ok "the daemon starts" opcontrol --start --session-dir="$session" --event=TIMER:500 --max-memory=128M
run 65534 "$dir/falling"
ok "it answers while a million falling addresses are read" answers 10
echo "# the slowest answer took $slowest ms, at most $(daemon_memory) KiB were resident"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
	run 65533 "$dir/large"
done
ok "it answers while 24 processes have large maps" answers 10
echo "# the slowest answer took $slowest ms, at most $(daemon_memory) KiB were resident"
ok "it keeps to its memory" test "$(daemon_memory)" -le 262144
run 65532 "$dir/none"
sleep 2
ok "the code of another user has its name" named 65532
before=$(date +%s%3N)
ok "it ends" opcontrol --shutdown
echo "# that took $(($(date +%s%3N) - before)) ms"
is "sampling never paused" "$(counter shed_pauses)" 0
test "$(counter jit_put_off)" -ge 1
result $? "what was not read is counted"
done_testing
