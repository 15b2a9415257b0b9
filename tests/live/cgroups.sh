#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples are separated by the cgroup of their process: cgroups that existed before, and one that
# came and went during sampling. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
need_root

mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
[ -n "$mount" ] || skip_all "no cgroup2 file system is mounted"
ours=optest.$$
unit=none
top=$mount/$ours
mkdir "$top" 2>/dev/null || skip_all "no cgroup can be made in $mount"
# In version 1 tasks of perf_event have a hierarchy of their own.
if [ "$OP_DRIVER" = perf ] && grep -q '^[^ ]* [^ ]* cgroup [^ ]*perf_event' /proc/self/mounts; then
	rmdir "$top"
	skip_all "perf_event is in a hierarchy of version 1"
fi
cleanup()
{
	rmdir "$top/old" "$top/new" "$top/$unit" "$top" 2>/dev/null
}
mkdir "$top/old"
cd "$dir" || exit 1

# Runs for a while in the cgroup of that name.
cat >spin <<END
echo \$\$ >"$top/\$1/cgroup.procs"
exec truth_jit \$2
END
# What is sampled: a cgroup from before, one that is new, one of them twice, and none of ours.
cat >work <<END
mkdir "$top/new"
sh ./spin old 1 &
sh ./spin new 0.3
rmdir "$top/new"
truth_jit 0.3
wait
END

# samples CGROUP: those that the report has there.
samples()
{
	opreport --session-dir="$dir/s" --csv --merge=cgroup "cgroup:$1" 2>/dev/null |
		awk -F, 'NR > 1 { n += $9 } END { print n + 0 }'
}

own=$(sed -n 's/^0:://p' /proc/self/cgroup)
ok "a profile by cgroup" operf --driver="$OP_DRIVER" -d "$dir/s" --rate=997 --separate-cgroup -g \
	sh ./work
total=$(cat s/samples/current/stats/samples)
ok "the columns of the report" opreport --session-dir="$dir/s"
has "one cgroup from before" "^Processes in the cgroup /$ours/old$"
has "one that has gone" "^Processes in the cgroup /$ours/new$"
cp output report
ok "none is unknown" sh -c '! grep -q "(unknown)" report'
old=$(samples "/$ours/old")
new=$(samples "/$ours/new")
both=$(samples "/$ours")
echo "# $total samples, $old in old, $new in new, $both below $ours, by $OP_DRIVER"
is "a cgroup stands for those below it" "$both" $((old + new))
ok "both were sampled" test "$old" -gt "$new" -a "$new" -gt 0
is "all that is not there is here" "$(samples "$own")" "$([ "$own" = / ] && echo "$total" ||
	echo $((total - both)))"
ok "chains of one" sh -c "opreport --session-dir='$dir/s' --folded cgroup:new >chains"
is "they have as many samples" "$(awk '{ n += $NF } END { print n + 0 }' chains)" "$new"

ok "who called whom in one" sh -c "opreport --session-dir='$dir/s' -c cgroup:new >calls"
has "  is reported" "truth_jit .* main" calls

# A container, whose runtime has its name in a file. Both are gone when the report is made.
id=$(printf '%064x' $$)
short=$(printf '%s' "$id" | cut -c1-12)
unit=docker-$id.scope
if unshare -m mount -t tmpfs tmpfs /var/lib 2>/dev/null; then
	mkdir "$top/$unit"
	ok "a profile of a container" unshare -m sh -c "mount -t tmpfs tmpfs /var/lib &&
		mkdir -p /var/lib/docker/containers/$id &&
		printf '{\"Config\":{\"Name\":\"no\"},\"Name\":\"/web-1\"}' \
			>/var/lib/docker/containers/$id/config.v2.json &&
		exec operf --driver=$OP_DRIVER -d '$dir/c' --rate=997 --separate-cgroup \
			sh -c 'sh ./spin old 0.2; sh ./spin $unit 0.3'"
	rmdir "$top/$unit"
	ok "its report" opreport --session-dir="$dir/c"
	has "  has its path and its name" "^Processes in the cgroup /$ours/$unit, which is docker:web-1$"
	for name in docker:web-1 web-1 "web-*" "docker:$short"; do
		ok "it is cgroup:$name" opreport --session-dir="$dir/c" "cgroup:$name"
	done
	ok "another one is not" sh -c "! opreport --session-dir='$dir/c' cgroup:docker:web-2 2>not"
	has "  but it is named" "available: .*docker:web-1" not
	ok "an archive of it" oparchive --session-dir="$dir/c" -o "$dir/archive.c"
	ok "  has the name" opreport "archive:$dir/archive.c" cgroup:docker:web-1
	ok "its timeline" opreport --session-dir="$dir/c" --timeline=cgroup
	has "  has the name" "docker:web-1$"
else
	skip "a container has its name" "no mount namespace can be made"
fi

# What has no cgroups in its name is as it was.
ok "a profile without" operf --driver="$OP_DRIVER" -d "$dir/plain" --rate="$rate" truth_jit 0.2
ok "has no trace of them" sh -c '! find plain -name "*cgroup*" | grep .'

# An archive, and a session brought home, keep them.
ok "an archive" oparchive --session-dir="$dir/s" -o "$dir/archive"
opreport --session-dir="$dir/s" --csv 2>/dev/null >here
ok "of an archive" sh -c "opreport archive:'$dir/archive' --csv >there"
ok "the same report" cmp here there
ok "a check" opcheck "$dir/s"
done_testing
