#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The file in which a runtime keeps the name of a container is on a file system whose server does not
# answer. The daemon goes on draining and answering; a save, a reset and the end do not wait for it.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
hostile=$OP_BUILD_ROOT/tests/hostile
[ -x "$hostile/hangfs" ] || skip_all "built without libfuse3"
[ -c /dev/fuse ] || skip_all "needs /dev/fuse"
unshare -m true 2>/dev/null || skip_all "no mount namespace can be made"
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$cgroups" ] || skip_all "no cgroup2 file system is mounted"
id=$(printf '%064d' $$)
cgroup=$cgroups/docker-$id.scope
mkdir "$cgroup" 2>/dev/null || skip_all "no cgroup can be made in $cgroups"
server=
cleanup()
{
	# What hangs ends with the server.
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null
	umount -l "$dir/mnt" 2>/dev/null
	stop_all
	wait
	rmdir "$cgroup"
}

mkdir "$dir/mnt" "$dir/lib"
"$hostile/hangfs" -f -o allow_other "$dir/mnt" 2>"$dir/hangfs.err" &
server=$!
for _ in $(seq 100); do [ -e "$dir/mnt/code" ] && break; sleep 0.1; done
cat "$dir/mnt/code" >/dev/null # the last open that succeeds
mkdir -p "$dir/lib/docker/containers/$id"
: >"$dir/lib/docker/containers/$id/config.v2.json"
cat >"$dir/start" <<END
mount --bind "$dir/lib" /var/lib &&
	mount --bind "$dir/mnt/code" "/var/lib/docker/containers/$id/config.v2.json" &&
	exec opcontrol --start --session-dir="$session" --separate=cgroup --event=TIMER:500
END
sh -c "echo \$\$ >'$cgroup/cgroup.procs' && while :; do :; done" &
worker=$!

# Whether a thread of the daemon waits for the server.
hangs()
{
	grep -qs fuse "/proc/$(daemon_pid)"/task/*/wchan || grep -qs "fuse\|request_wait" "/proc/$(daemon_pid)"/task/*/stack
}

ok "the daemon starts" unshare -m sh "$dir/start"
wait_for hangs
result $? "a thread of it hangs"
before=$(counter sample_received)
sleep 1
ok "it answers" opcontrol --dump
ok "  and drains" test "$(counter sample_received)" -gt "$before"
# The thread is waited for 100 ms at each of these; opcontrol and a busy machine need their own time.
ok "a save does not wait" timeout 5 opcontrol --save=kept
ok "nor a reset" timeout 5 opcontrol --reset
busy=$(status_number busy_longest_ms)
echo "# busy for at most $busy ms"
ok "it was never busy for long" test "${busy%.*}" -lt 1000
has "  and says what may be missing" "names of containers cannot be read" "$session/samples/oprofiled.log"
ok "it ends" timeout 10 opcontrol --shutdown
ok "the samples are in the cgroup" opreport --session-dir="$session" session:kept
has "  by its id" "docker[-:]$(printf %.12s "$id")"
done_testing
