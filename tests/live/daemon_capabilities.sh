# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon needs each capability that it keeps: without it, something is missing that is there
# with all of them.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v setpriv >/dev/null || skip_all "needs setpriv"
unshare -m true 2>/dev/null || skip_all "needs mount namespaces"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] || skip_all "everybody may sample here"

chmod 755 "$dir"
: >"$OPROFILE_DAEMONRC"
chmod 644 "$OPROFILE_DAEMONRC"
all="perfmon bpf syslog sys_ptrace dac_read_search checkpoint_restore"

hidden=
# start_without CAPABILITY [OPTION...]: a daemon of user 65534 with all others, in $session.
start_without()
{
	caps=-all
	for cap in $all; do
		[ "$cap" = "$1" ] || caps="$caps,+$cap"
	done
	session=$dir/without-$1
	mkdir "$session"
	chown 65534 "$session"
	shift
	# shellcheck disable=SC2086 # words
	$hidden setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$caps" --ambient-caps="$caps" \
		oprofiled --session-dir="$session" --events=TIMER:997 --driver=bpf --start "$@"
}

# Programs of user 12345: one that only it may read, one where only it sees it.
mkdir -m 700 "$dir/own"
cp "$OP_BUILD_ROOT/tests/live/truth_deep" "$dir/own/only-mine"
chown -R 12345 "$dir/own"
chmod 700 "$dir/own/only-mine"
user="setpriv --reuid=12345 --regid=12345 --clear-groups"

run_programs()
{
	$user "$dir/own/only-mine" user 0.7
	mkdir -p "$dir/mount"
	unshare -m sh -c "mount -t tmpfs none '$dir/mount' &&
		cp '$OP_BUILD_ROOT/tests/live/truth_deep' '$dir/mount/unseen' &&
		$user '$dir/mount/unseen' user 0.7"
	opcontrol --session-dir="$session" --shutdown >/dev/null
}

# knows PROGRAM: whether its build-id is known.
knows()
{
	grep -q "/$1.*[0-9a-f]\{32\}" "$session/samples/current/images"
}

start_without none >"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
run_programs
ok "with all it knows a private program" knows only-mine
ok "  and one in a file system of its own" knows unseen
ok "  and the kernel" sh -c "! grep 'addresses are hidden' '$session/samples/oprofiled.log'"
fails "without CAP_BPF it does not start" 1 start_without bpf
fails "without CAP_PERFMON neither" 1 start_without perfmon
start_without syslog >/dev/null 2>&1
run_programs
has "without CAP_SYSLOG the kernel has no symbols" "addresses are hidden" "$session/samples/oprofiled.log"

# As the service file does it.
cat >"$dir/hide" <<'SH'
#!/bin/sh
mount --bind /dev/null /proc/kallsyms && exec "$@"
SH
chmod 755 "$dir/hide"
rm -r "$session"
hidden="unshare -m $dir/hide"
start_without syslog --foreground </proc/kallsyms >/dev/null 2>&1 &
ok "nor where the list is hidden" wait_for sh -c \
	"opcontrol --session-dir='$session' --status --json 2>/dev/null | grep -q '\"samples_received\": [0-9]\{3,\}'"
hidden=
run_programs
ok "  but for what was opened before" sh -c "! grep 'addresses are hidden' '$session/samples/oprofiled.log'"
ok "  it has symbols" sh -c \
	"opreport --session-dir='$session' -l 2>/dev/null | grep -E '\[kernel\].* [a-z_][a-z0-9_.]+$'"
start_without dac_read_search >/dev/null 2>&1
run_programs
ok "without CAP_DAC_READ_SEARCH a private program is not known" sh -c \
	"! grep '/only-mine.*[0-9a-f]\{32\}' '$session/samples/current/images'"
start_without sys_ptrace >/dev/null 2>&1
run_programs
ok "without CAP_SYS_PTRACE one in a file system of its own is not" sh -c \
	"! grep '/unseen.*[0-9a-f]\{32\}' '$session/samples/current/images'"
done_testing
