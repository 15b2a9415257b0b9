#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Traps that users may set for root: perf maps that are links, another user's files or not files at
# all, and names with terminal escapes. None is followed or printed raw, and none prevents other
# work.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
command -v setpriv >/dev/null || skip_all "needs setpriv"
command -v script >/dev/null || skip_all "needs script"
driver=auto

chmod 755 "$dir"
mkdir "$dir/bin"
evil="$(printf 'ev\033[31mil\007')"
cp "$live/truth_jit" "$dir/bin"
cp "$live/truth_jit" "$dir/bin/$evil"
cleanup()
{
	for pid in $(cat "$dir/pids" 2>/dev/null); do
		rm -rf "/tmp/perf-$pid.map" "/tmp/perf-$pid.linked"
	done
}

cat >"$dir/plant" <<'END'
# run NAME [PROGRAM]: a process of user 65534 that makes code, in $pid; in $map where its map belongs;
# a line of a map that calls its code NAME, in $line.
run()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/bin/${2:-truth_jit}" 1 >/dev/null 2>&1 &
	pid=$!
	echo "$pid" >>"$dir/pids"
	map=/tmp/perf-$pid.map
	until grep -q 'r-xp 00000000 00:00 0 *$' "/proc/$pid/maps"; do sleep 0.02; done
	start=$(sed -n 's/^\([0-9a-f]*\)-.* r-xp 00000000 00:00 0 *$/\1/p' "/proc/$pid/maps" | head -n 1)
	line="$start 1000 $1"
}
user="setpriv --reuid=65534 --regid=65534 --clear-groups"
stranger="setpriv --reuid=12345 --regid=12345 --clear-groups"

run honest_name
echo "$line" | $user tee "$map"
run secret_name
echo "$line" >"$dir/secret"
chmod 600 "$dir/secret"
$user ln -s "$dir/secret" "$map"
# Where the kernel lets users make such links, too (fs.protected_hardlinks).
run linked_name
echo "$line" >"/tmp/perf-$pid.linked"
chmod 600 "/tmp/perf-$pid.linked"
ln "/tmp/perf-$pid.linked" "$map"
run stranger_name
echo "$line" | $stranger tee "$map"
run no_name
$user mkdir "$map"
run no_name
$user mkfifo "$map"
run no_name
$user ln -s /dev/zero "$map"
run "$evil" "$evil"
echo "$line" | $user tee "$map"
wait
END
export dir evil
ok "root profiles them" operf --session-dir="$dir/all" --rate=997 sh "$dir/plant"
report all
ok "its own map names code" grep -q honest_name "$dir/all.report"
for name in secret_name linked_name stranger_name; do
	ok "a map that is not the process's own does not: $name" sh -c "! grep -q $name '$dir/all.report'"
done

# silent NAME COMMAND...: what it prints has no control character but newline and tab.
silent()
{
	name=$1
	shift
	"$@" >"$dir/printed" 2>&1
	LC_ALL=C tr -d '\r\n\t\040-\176\200-\377' <"$dir/printed" >"$dir/control"
	is "$name prints no control character" "$(od -An -c "$dir/control" | head -n 2)" ""
}
ok "a hostile name is in the report" grep -q 'ev\\x1b\[31mil\\x07' "$dir/all.report"
silent opreport opreport --session-dir="$dir/all"
silent "opreport -l" opreport --session-dir="$dir/all" -l
silent "opreport --debug-info" opreport --session-dir="$dir/all" -l -g -w
silent "opreport --json" opreport --session-dir="$dir/all" -l --json
silent "opreport --xml" opreport --session-dir="$dir/all" -l --xml
silent opannotate opannotate --session-dir="$dir/all" --assembly
silent opcheck opcheck --session-dir="$dir/all" "$dir/all"
silent "oparchive on a terminal" script -qec "oparchive --session-dir='$dir/all' --list-files" /dev/null
silent opgprof sh -c "cd '$dir' && opgprof --session-dir='$dir/all' image:'$dir/bin/$evil'"
silent "a missing image" opreport --session-dir="$dir/all" "image:$evil-none"

is "others do not read what root recorded" "$(stat -c %a "$dir/all")" 750
mkdir "$dir/theirs"
chown 65534 "$dir/theirs"
SUDO_UID= fails "root does not write where another user could lead it" 1 \
	operf --session-dir="$dir/theirs" true
has "  and says so" "belongs to uid 65534"
mkdir -p "$dir/ours/samples/current"
chown -h 65534 "$dir/ours/samples"
ln -s "$dir/theirs" "$dir/link"
chown -h 65534 "$dir/link"
for place in ours link; do
	SUDO_UID= fails "nor below a directory of another user: $place" 1 \
		operf --session-dir="$dir/$place" true
	has "  and says so" "belongs to uid 65534"
done
for place in theirs/below theirs/below/new link/new; do
	SUDO_UID= fails "nor where another user owns a directory above: $place" 1 \
		operf --session-dir="$dir/$place" true
	has "  and says which" "$dir/${place%%/*}: belongs to uid 65534"
done
ok "  and makes nothing there" test ! -e "$dir/theirs/below"
mkdir -m 777 "$dir/open"
SUDO_UID= fails "nor below a directory that all may write" 1 operf --session-dir="$dir/open/new" true
has "  and says which" "$dir/open: can be written by others"
ok "but where sudo's user asks for it" env SUDO_UID=65534 operf --session-dir="$dir/theirs" true
done_testing
