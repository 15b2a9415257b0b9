# SPDX-License-Identifier: GPL-2.0-or-later
# Files that hold whoever touches them: on a file system whose server does not answer, or with a
# lease. The daemon goes on draining, answers, and ends when it is told to; so does operf.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
hostile=$OP_BUILD_ROOT/tests/hostile
[ -x "$hostile/hangfs" ] || skip_all "built without libfuse3"
[ -c /dev/fuse ] || skip_all "needs /dev/fuse"
[ "$(uname -m)" = x86_64 ] || skip_all "the code is for x86-64"

attacks=0
server=
runner=
end_attack()
{
	for pid in $runner $server; do
		kill -9 "$pid" 2>/dev/null
	done
	umount -l "$dir/over" "$dir/mnt" "$dir"/mnt? 2>/dev/null
	server=
	runner=
}
cleanup()
{
	end_attack
	stop_all
}

# attack [COUNT]: code that hangs and code with leases runs until end_attack(), and an honest program.
# What looks like a jitdump is on an overlay, which looks like a local file system. COUNT more devices
# hang, each on its own.
attack()
{
	more=$(seq "${1:-0}")
	mkdir -p "$dir/mnt" "$dir/empty" "$dir/over"
	"$hostile/hangfs" -f -o allow_other "$dir/mnt" 2>"$dir/hangfs.err" &
	server=$!
	wait_for test -e "$dir/mnt/code"
	mount -t overlay -o "lowerdir=$dir/mnt:$dir/empty" overlay "$dir/over"
	set -- "$dir/mnt/code" "$dir/over/jit-1.dump"
	for i in $more; do
		mkdir -p "$dir/mnt$i"
		"$hostile/hangfs" -f -o allow_other "$dir/mnt$i" 2>"$dir/hangfs.err" &
		server="$server $!"
		wait_for test -e "$dir/mnt$i/code"
		set -- "$@" "$dir/mnt$i/code"
	done
	# New files: to write one that a killed process still leases takes long, as does a lease on an open one.
	attacks=$((attacks + 1))
	mkdir "$dir/$attacks"
	for i in 1 2 3 4; do
		printf '\110\211\370\110\377\310\165\373\303' >"$dir/$attacks/leased$i"
		truncate -s 4096 "$dir/$attacks/leased$i"
		set -- "$@" --lease "$dir/$attacks/leased$i"
	done
	"$hostile/run_code" 600 "$@" 2>"$dir/run_code.err" &
	runner=$!
	keep_busy
	# It has its last lease, too.
	ok "the code that hangs runs" wait_for has_used "$runner" 1
}

# Seconds, with a fraction, that a command takes.
seconds()
{
	/usr/bin/env time -f %e -o "$dir/time" "$@" >"$dir/output" 2>&1
	cat "$dir/time"
}

stuck()
{
	ps -e -o stat=,comm= | grep -q '^D.*oprofile-opener'
}

# Whether a child has ended; the shell has not waited for it.
is_over()
{
	grep -q '^[0-9]* (.*) Z' "/proc/$1/stat" 2>/dev/null || [ ! -d "/proc/$1" ]
}

for driver in bpf perf; do
	attack
	ok "$driver: the daemon starts" opcontrol --start --driver="$driver" --callgraph=16 \
		--session-dir="$session"
	ok "$driver: another process hangs" wait_for stuck
	sleep 4
	uses "$runner" 100
	ok "$driver: the daemon answers" opcontrol --status
	busy=$(status_number busy_longest_ms)
	echo "# busy for at most $busy ms"
	ok "$driver: it was never busy for long" test "${busy%.*}" -lt 1000
	pid=$(daemon_pid)
	kill -TERM "$pid"
	for _ in $(seq 60); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
	ok "$driver: SIGTERM ends it" sh -c "! kill -0 $pid 2>/dev/null"
	kill "$worker"
	end_attack
	opreport --session-dir="$session" >"$dir/report"
	for image in dash code leased1 leased4; do
		ok "$driver: samples of $image are in the profile" grep -q " $image\$" "$dir/report"
	done
	ok "$driver: what hung is named" grep -q "mnt/.*: took more than" \
		"$session/samples/oprofiled.log"
	rm -rf "$session"
done

attack 6
begun=$(date +%s)
operf --callgraph --system-wide --session-dir="$dir/operf" 2>"$dir/operf.err" &
operf=$!
ok "operf: another process hangs" wait_for stuck
wait_for grep -q "Profiler started" "$dir/operf.err"
# Before it samples, it looks at the files of running processes, two seconds at one that hangs.
waited=$(($(date +%s) - begun))
ok "operf: it does not wait for all of them" test "$waited" -lt 14
echo "# $waited s"
uses "$runner" 200
kill -INT "$operf"
for _ in $(seq 60); do is_over "$operf" && break; sleep 0.1; done
ok "operf: SIGINT ends it" is_over "$operf"
kill "$worker"
end_attack
opreport --session-dir="$dir/operf" >"$dir/report"
for image in dash code leased1; do
	ok "operf: samples of $image are in the profile" grep -q " $image\$" "$dir/report"
done

attack
opcontrol --start --session-dir="$session" >/dev/null
wait_for stuck
pid=$(daemon_pid)
kill -KILL "$pid"
for _ in $(seq 20); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
ok "SIGKILL leaves no daemon" sh -c "! kill -0 $pid 2>/dev/null"
ok "and another can start" opcontrol --start --session-dir="$session"
done_testing
