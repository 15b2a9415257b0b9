#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All that holds a daemon, at once, with each driver: leases, a file system that hangs, very large perf
# maps, streams of new files that are hard to parse, processes with very many mappings, dumps without
# end. It answers, samples, and has an account of all. The longest time between two drains, what took it,
# and how late a loop that does nothing is meanwhile, are printed (bench/README.md).
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
hostile=$OP_BUILD_ROOT/tests/hostile
command -v setpriv >/dev/null || skip_all "needs setpriv"
[ -x "$hostile/hangfs" ] && [ -c /dev/fuse ] || skip_all "needs FUSE"
[ "$(uname -m)" = x86_64 ] || skip_all "the code is for x86-64"
seconds=${OP_ATTACK_SECONDS:-15}
chmod 755 "$dir"

end_attack()
{
	end_background
	umount -l "$dir/mnt" 2>/dev/null
}
cleanup()
{
	end_attack
	stop_all
}

# jit MAP: a process with code made at run time, and with that perf map.
jit()
{
	as_uid 65534 "$dir/jit" 600
	give_map 65534 "$1"
}

dump_on()
{
	while :; do
		"$OP_BUILD_ROOT/tests/live/control_ask" "$session" "write dump 1"
	done
}

# The longest time between two drains, and that of each stage of the work; how long the thread that
# drains ran, and how long it waited for a CPU.
longest()
{
	echo "# $driver: at most $(status_number busy_longest_ms) ms between two drains; stages in us:"
	opcontrol --status --json | sed -n 's/^ *"busy_stages_us"/# &/p'
	awk '{ printf "# the thread ran for %d ms and waited for a CPU for %d ms\n", $1 / 1e6, $2 / 1e6 }' \
		"/proc/$(daemon_pid)/schedstat"
	sed -n 's/.*no drain for/# no drain for/p' "$session/samples/oprofiled.log" | sort -k5nr | head -n 5
}

attack()
{
	mkdir -p "$dir/mnt" "$dir/new" "$dir/leased"
	chown 65534 "$dir/new" "$dir/leased"
	background "$hostile/hangfs" -f -o allow_other "$dir/mnt"
	for _ in $(seq 100); do [ -e "$dir/mnt/code" ] && break; sleep 0.1; done
	background "$hostile/run_code" 600 "$dir/mnt/code"
	as_uid 65534 "$dir/lease_holder" "$dir/leased" 4 600
	as_uid 65534 "$dir/new_files" "$dir/new" 600
	for _ in 1 2 3; do as_uid 65534 "$dir/many_maps" "$dir/code" 600; done
	jit "$dir/falling"
	for _ in 1 2 3 4 5 6 7 8; do jit "$dir/large"; done
	background dump_on
}

cp "$OP_BUILD_ROOT/tests/live/truth_jit" "$dir/jit"
cp "$hostile/lease_holder" "$hostile/new_files" "$hostile/many_maps" "$dir"
printf '\110\211\370\110\377\310\165\373\303' >"$dir/code"
truncate -s 4096 "$dir/code"
awk 'BEGIN { for (i = 1000000; i > 0; i--) printf "%x 10 f%d\n", 0x10000000 + i * 16, i }' >"$dir/falling"
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%x 10 %0200d\n", 0x10000000 + i * 16, i }' >"$dir/large"

for driver in ${OP_DRIVERS:-bpf perf}; do
	may_use "$driver" || continue
	ok "$driver: the daemon starts" opcontrol --start --driver="$driver" --callgraph=32 \
		--event=TIMER:500 --session-dir="$session" --verbose=debug
	[ -n "$(daemon_pid)" ] || continue
	attack
	output=$dir/late background "$hostile/bare_loop" "$seconds"
	bare=$pid
	end=$(($(date +%s) + seconds)) answered=0
	while [ "$(date +%s)" -lt "$end" ]; do
		timeout 20 opcontrol --status >"$dir/status" 2>&1 || break
		answered=$((answered + 1))
		sleep 0.2
	done
	test "$(date +%s)" -ge "$end" -a "$answered" -gt 0
	result $? "$driver: it answers all along"
	longest
	wait "$bare"
	echo "# a loop of the same priority that does nothing was late by $(cat "$dir/late") ms at most"
	rm "$dir/late"
	ok "$driver: samples can be recorded" opcontrol --dump
	ok "$driver: there are samples of what attacked" sh -c \
		"opreport --session-dir='$session' 2>/dev/null | grep -q ' many_maps'"
	echo "# $(counter drains_late) of the drains were late, $(counter total_samples) samples, $(accounted) accounted for"
	is "$driver: sampling never paused" "$(counter shed_pauses)" 0
	ok "$driver: the session can be saved" opcontrol --save=attacked
	ok "$driver: the next one can be emptied" opcontrol --reset
	echo "# after saving and emptying:"
	longest
	end_attack
	ok "$driver: it ends" timeout 60 opcontrol --shutdown
	ok "$driver: no file is damaged" opcheck "$session"
	rm -rf "$session"
done
done_testing
