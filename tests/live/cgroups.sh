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
top=$mount/$ours
mkdir "$top" 2>/dev/null || skip_all "no cgroup can be made in $mount"
# In version 1 tasks of perf_event have a hierarchy of their own.
if [ "$OP_DRIVER" = perf ] && grep -q '^[^ ]* [^ ]* cgroup [^ ]*perf_event' /proc/self/mounts; then
	rmdir "$top"
	skip_all "perf_event is in a hierarchy of version 1"
fi
cleanup()
{
	rmdir "$top/old" "$top/new" "$top" 2>/dev/null
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
