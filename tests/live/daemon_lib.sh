# SPDX-License-Identifier: GPL-2.0-or-later
# Shared by the tests of oprofiled and opcontrol: a session and settings of their own in $dir, and a
# daemon that is ended afterwards.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
need_root

session=$dir/session
export OPROFILE_DAEMONRC="$dir/daemonrc"
# A machine that runs tests is so busy that the budget would leave few samples to look at.
# The user "oprofile" may be missing, and could not reach a directory of root's.
printf '%s\n' BUDGET=none AS_ROOT=1 >"$OPROFILE_DAEMONRC"
worker=

stop_all()
{
	[ -z "$worker" ] || kill "$worker" 2>/dev/null
	pid=$(daemon_pid)
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
}

cleanup()
{
	stop_all
}

# Whatever a test does, the daemon's list of system calls must have all that it takes.
last_words()
{
	ok "the daemon was refused no system call" sh -c \
		"! grep -h 'is refused (seccomp)' '$session/samples/oprofiled.log' 2>&1"
}

# The pid of the session's daemon, from its answer; nothing where none answers.
daemon_pid()
{
	opcontrol --status --json 2>/dev/null | sed -n 's/^  "pid": \([0-9]*\),$/\1/p'
}

# A number of opcontrol --status --json.
status_number()
{
	opcontrol --status --json | sed -n "s/^  \"$1\": \([0-9.]*\),\$/\1/p"
}

# A counter of the current session, or of another.
counter()
{
	cat "$session/samples/${2:-current}/stats/$1" 2>/dev/null || echo 0
}

# Samples of the session for which there is an account: what came to be recorded, and what the driver
# lost before under a name.
accounted()
{
	cd "$session/samples/${1:-current}/stats" || return
	sum=0
	for file in total_samples sample_lost_no_* sample_filtered; do
		[ ! -f "$file" ] || sum=$((sum + $(cat "$file")))
	done
	echo $sum
	cd "$dir" || return
}

# Whether this machine lets the driver $1 sample; if not, the reason is in $dir/output.
can_sample()
{
	operf --driver="$1" --session-dir="$dir/try" true >"$dir/output" 2>&1
	set -- $?
	rm -rf "$dir/try"
	return "$1"
}

# Whether this machine lets the driver $1 sample; else its tests are skipped.
may_use()
{
	can_sample "$1" && return
	skip "$1" "$(tail -n 1 "$dir/output")"
	return 1
}

# Starts a command; its pid is in $pid. What it prints goes to $output, or else to $dir/run.
background()
{
	"$@" >>"${output:-$dir/run}" 2>&1 &
	pid=$!
	echo "$pid" >>"$dir/pids"
}

# Ends these commands, and removes their perf maps.
end_background()
{
	[ -f "$dir/pids" ] || return 0
	while read -r pid; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		rm -f "/tmp/perf-$pid.map"
	done <"$dir/pids"
	: >"$dir/pids"
}

# as_uid UID COMMAND...: the same, by a user.
as_uid()
{
	uid=$1
	shift
	background setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
}

# give_map UID FILE: makes a copy of that file the perf map of the process $pid of a user.
give_map()
{
	cp "$2" "$dir/map"
	chown "$1" "$dir/map"
	mv "$dir/map" "/tmp/perf-$pid.map"
}

# The most memory that the daemon had, in KiB.
daemon_memory()
{
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(daemon_pid)/status"
}

# Something to sample, in the background.
keep_busy()
{
	(while :; do :; done) &
	worker=$!
}

# The same, with 50 programs that are replaced all the time: their sample files and chains are new.
keep_new_programs()
{
	while :; do
		n=$((n + 1))
		cp "$OP_BUILD_ROOT/tests/live/truth_jit" "$dir/program$((n % 50))"
		timeout 0.2 "$dir/program$((n % 50))" 1
	done >/dev/null 2>&1 &
	worker=$!
}

# A Python whose functions the driver bpf knows.
known_python()
{
	python=${OP_PYTHON:-/usr/bin/python3}
	"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 15))' 2>/dev/null &&
		echo "$python"
}

# Whether the daemon uses the driver bpf.
uses_bpf()
{
	opcontrol --status --json | grep -q '^  "driver": "bpf'
}

# Whether more than $1 samples have been received.
received_more_than()
{
	[ "$(status_number samples_received)" -gt "$1" ]
}
