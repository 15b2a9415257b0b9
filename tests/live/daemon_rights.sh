# SPDX-License-Identifier: GPL-2.0-or-later
# The running daemon has its own user, few capabilities and few system calls, and when started as
# root it refuses unsafe directories.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v setpriv >/dev/null || skip_all "needs setpriv"
id daemon >/dev/null 2>&1 || skip_all "needs a user 'daemon'"

# status_line NAME: of /proc/PID/task/*/status of the daemon: one value if all its threads have it.
status_line()
{
	cat "/proc/$(daemon_pid)"/task/*/status | sed -n "s/^$1:[[:blank:]]*//p" | sort -u
}

# capabilities: those that the daemon has, by name. Threads may have none, or only that to read any file or
# any process; and the one that reads kallsyms, from when code comes or goes, also that to see addresses.
# Where root cannot raise the limit of priorities, one thread has cap_sys_nice (daemon_socket.sh).
capabilities()
{
	for set in $(status_line CapPrm | grep -v '^0*$'); do
		capsh --decode="$set" | sed 's/.*=//'
	done | sed 's/,cap_sys_nice//' | sort -u | grep -vx -e cap_dac_read_search -e cap_sys_ptrace -e cap_dac_read_search,cap_syslog
}

common=cap_dac_read_search,cap_sys_ptrace,cap_syslog
chmod 755 "$dir"

opcontrol --setup --session-dir="$session" --event=TIMER:500 --callgraph=16
if id oprofile >/dev/null 2>&1; then
	skip "without a user to switch to it does not start" "there is a user 'oprofile'"
	skip "  but says what helps" "there is a user 'oprofile'"
else
	fails "without a user to switch to it does not start" 1 opcontrol --as-root=0 --start
	has "  but says what helps" "no user 'oprofile' to switch to; .*--as-root"
	opcontrol --setup --as-root
fi
ok "root's daemon starts if that is meant" opcontrol --user=root --start
ok "  --status warns of it" opcontrol --status
has "    in words" "^Warning: *the daemon runs as root"
keep_busy
ok "  and samples" wait_for received_more_than 100
ok "  and ends" opcontrol --shutdown
chmod 755 "$session"
mkdir "$dir/elsewhere"
touch "$dir/elsewhere/file"
ln "$dir/elsewhere/file" "$session/samples/second-name"
ln -s "$dir/elsewhere/file" "$session/samples/link"

ok "it becomes another user" opcontrol --user=daemon --start
ok "  --status has no warning" sh -c "! opcontrol --status | grep ^Warning"
is "  which it is in all threads" "$(status_line Uid | tr '\t' ' ')" "1 1 1 1"
is "  in no other group" "$(status_line Groups)" ""
ok "  and samples" wait_for received_more_than 100
is "the session is that user's" "$(stat -c '%U %a' "$session")" "daemon 750"
is "  with what was there" "$(stat -c %U "$session/samples/current/stats/samples")" daemon
is "  but not what is elsewhere, too" "$(stat -c %U "$dir/elsewhere/file")" root
driver=$(opcontrol --status --json | sed -n 's/^  "driver": "\([a-z]*\):.*/\1/p')
echo "# driver $driver"
if [ "$driver" = bpf ]; then
	is "it has only the capabilities that it needs" "$(capabilities)" \
		$common,cap_perfmon,cap_bpf,cap_checkpoint_restore
else
	skip "it has only the capabilities that it needs" "the driver is $driver"
fi
is "  and can get no others" "$(status_line CapBnd | tr -d 0)$(status_line CapInh | tr -d 0)" ""
is "  by no program either" "$(status_line NoNewPrivs)" 1
is "it is confined to its system calls" "$(status_line Seccomp)" 2
fails "nobody else reads what it records" 1 setpriv --reuid=65534 --regid=65534 --clear-groups \
	opreport --session-dir="$session"
ok "root does" sh -c "opcontrol --dump && opreport --session-dir='$session'"
ok "shutdown" opcontrol --shutdown
has "the log says who it was" "running as uid 1, with capabilities: .*perfmon" \
	"$session/samples/oprofiled.log"

ok "by rings" opcontrol --driver=perf --socket-group=nogroup --start
ok "  it samples" wait_for received_more_than 100
ok "  without the right to load programs" sh -c "! echo $(capabilities) | grep cap_bpf"
is "  in the group that may control it" "$(status_line Groups)" "$(getent group nogroup | cut -d: -f3) "
is "  whose session it is" "$(stat -c '%U %G %a' "$session")" "daemon nogroup 750"
for command in --stop --start --dump --save=mine --reset; do
	ok "  a member does opcontrol $command" setpriv --reuid=12345 --regid=nogroup --clear-groups \
		opcontrol $command
done
ok "  a member reports" setpriv --reuid=12345 --regid=nogroup --clear-groups \
	opreport --session-dir="$session" session:mine
is "  samples" "$(grep -c samples "$dir/output" | sed 's/[1-9][0-9]*/some/')" some
ok "shutdown by a member" setpriv --reuid=12345 --regid=nogroup --clear-groups opcontrol --shutdown
fails "a user that does not exist" 1 oprofiled --session-dir="$session" --user=no-such-user
has "  is named" "no-such-user"
fails "a mode that lets others write" 2 oprofiled --session-dir="$session" --session-mode=770
ok "without seccomp" oprofiled --no-seccomp
is "  it is not confined" "$(status_line Seccomp)" 0
ok "shutdown" opcontrol --shutdown

opcontrol --setup --user= --socket-group=
mkdir -m 777 "$dir/open"
mkdir "$dir/open/session" "$dir/theirs"
chown 65534 "$dir/theirs"
fails "where others could put another directory" 1 oprofiled --session-dir="$dir/open/session"
has "  it does not write" "could redirect root's writes"
fails "where others own the directory" 1 oprofiled --session-dir="$dir/theirs"
has "  neither" "belongs to uid 65534; use the owner's name as --user"
mkdir -m 777 "$dir/writable"
fails "where others can write" 1 oprofiled --session-dir="$dir/writable"
has "  neither" "can be written by others"
ln -s "$dir/theirs" "$session.link"
fails "nor through a link" 1 oprofiled --session-dir="$session.link"
ok "but as they" oprofiled --session-dir="$dir/theirs" --user=nobody
session=$dir/theirs
opcontrol --setup --session-dir="$session"
is "  it does" "$(status_line Uid | tr '\t' ' ')" "65534 65534 65534 65534"
ok "shutdown" opcontrol --shutdown

# What issue or kernel say suffices: two capabilities, no root.
mkdir "$dir/two"
chown 65534 "$dir/two"
session=$dir/two
opcontrol --setup --session-dir="$session" --driver=
chmod 644 "$OPROFILE_DAEMONRC"
ok "a user with two capabilities" setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=-all,+perfmon,+bpf --ambient-caps=-all,+perfmon,+bpf oprofiled --start
is "  has them and no more" "$(capabilities)" cap_perfmon,cap_bpf
ok "  and samples the machine" wait_for received_more_than 100
has "  by a program in the kernel where that works" "started: $driver:" "$session/samples/oprofiled.log"
ok "shutdown" opcontrol --shutdown
done_testing
