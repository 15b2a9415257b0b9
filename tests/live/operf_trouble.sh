#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# operf when things go wrong: it is killed, the disk is full, the session cannot be written, there
# are few descriptors. It reports the problem, and keeps what was recorded before.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
cd "$dir" || exit 1

# Killed. The command goes on, the next operf can use the session, and the samples are there.
operf --session-dir=killed sh -c 'echo $$ >pid; exec truth_chains 60' >killed.log 2>&1 &
profiler=$!
has_samples() { opreport --session-dir=killed | grep -q truth_chains; }
wait_for has_samples
kill -KILL $profiler
wait $profiler 2>/dev/null
result 0 "operf is killed"
ok "the command is not" kill -0 "$(cat pid)"
kill "$(cat pid)"
opreport -l --session-dir=killed >killed.before
ok "what was sampled can be reported" test "$(sum_of killed.before)" -gt 0
ok "the session can be added to" operf --session-dir=killed --append truth_chains 0.2
opreport -l --session-dir=killed >killed.after
ok "and has become more" test "$(sum_of killed.after)" -gt "$(sum_of killed.before)"

# Root in a container has no capabilities but those that it was started with.
if command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	fails "a container that may not profile" 1 \
		setpriv --bounding-set=-all --inh-caps=-all operf -d bare -s true
	has "is told how to start it" "start the container with --cap-add=PERFMON"
else
	skip "a container that may not profile" "needs setpriv, and kernel.perf_event_paranoid above 0"
fi

mkdir small
cleanup() { mountpoint -q "$dir/small" && umount "$dir/small"; }
mount -t tmpfs -o size=200k tmpfs small 2>/dev/null || {
	result 0 "a small disk # SKIP cannot mount"
	done_testing
}

ok "a session on a small disk" operf --session-dir=small/session truth_chains 0.3
opreport -l --merge=all --session-dir=small/session >small.before
dd if=/dev/zero of=small/filler bs=4k >/dev/null 2>&1
fails "no room on the disk at all" 1 operf --session-dir=small/session --append true
has "is reported with the path" "small/session.*No space left"
truncate -s -32K small/filler
fails "room that does not last" 1 operf --session-dir=small/session --append --separate-thread truth_storm 100
has "says how many samples could not be written" "[1-9][0-9]* samples\? lost: their sample file"
has "and where" "small/session.*No space left"
told=$(sed -n 's/^operf: \([0-9]*\) samples\{0,1\}, .*/\1/p' "$dir/output")
opreport -l --merge=all --session-dir=small/session >small.after
is "what was there before stays, and what it told was added" "$(sum_of small.after)" \
	$(($(sum_of small.before) + told))

rm small/filler
mount -o remount,ro small
fails "a session that is read-only" 1 operf --session-dir=small/session true
has "is reported with its path" "small/session.*Read-only"
ok "and can still be reported" opreport --session-dir=small/session

ok "few descriptors are enough" sh -c 'ulimit -n 28; operf --session-dir=few truth_storm 50'
ok "with each sample in its file" test ! -e few/samples/current/stats/lost_samplefile
cat >many <<'EOF'
for i in $(seq 40); do
	cp "$(command -v sh)" "few$i"
	"./few$i" -c 'i=0; while [ $i -lt 9999 ]; do i=$((i + 1)); done'
done
EOF
ok "and for more images than descriptors" \
	sh -c 'ulimit -n 26; operf --rate=9973 --session-dir=crowd sh many'
ok "with all counters written" test -s crowd/samples/current/stats/sample_received
fails "too few are not" 1 sh -c 'ulimit -n 8; operf --session-dir=fewer true'
has "is reported" "Too many open files"

done_testing
