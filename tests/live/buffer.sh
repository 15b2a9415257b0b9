# SPDX-License-Identifier: GPL-2.0-or-later
# The event buffer read by another program: it has the same counts as the sample files. There is one
# reader at a time, and if either side dies the other is released.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"

fs=$dir/fs
reader=
jit=
script=
cleanup()
{
	for pid in $reader $jit $script; do
		kill "$pid" 2>/dev/null
	done
	umount -l "$fs" 2>/dev/null
	stop_all
}

foreign_reader()
{
	rm -f "$dir/reader"
	"$OP_BUILD_ROOT/tests/live/foreign_reader" "$fs" >"$dir/read" 2>"$dir/reader" &
	reader=$!
	wait_for grep -q "^reading" "$dir/reader"
}

# Without those that a report has to write in another way.
plain_names()
{
	grep -v -e "^[^	]*[^	[:alnum:]/._:+#-]" -e "^/memfd:" | sort
}

# Samples of each image by the report: "image<TAB>samples", the kernel by that name.
reported()
{
	opreport --session-dir="$session" --long-filenames 2>/dev/null |
		awk '/^ +[0-9]+ +[0-9.e-]+ (\/|no-vmlinux)/ {
			program = $3 == "no-vmlinux" ? "kernel" : $3
			own[program] = $1
			whole = 1
		}
		/^\t +[0-9]+ +[0-9.e-]+ / { # what the line of the program is the sum of
			if (whole)
				delete own[program]
			whole = 0
			if ($3 ~ /^\// && NF == 3)
				own[$3] = $1
		}
		END { for (i in own) print i "\t" own[i] }' | plain_names
}

as_read()
{
	awk -F '\t' '{ sub(/ \(deleted\)$/, "", $1) }
		$1 ~ /^\// || $1 == "kernel" { sum[$1] += $3 }
		END { for (i in sum) print i "\t" sum[i] }' "$dir/read" | plain_names
}

# Samples in anonymous memory by the sample files.
recorded_anon()
{
	opreport --session-dir="$session" --merge=all --symbols --separate-regions 2>/dev/null |
		awk '$1 ~ /^[0-9]+$/ && / \(tgid:[0-9]+ range:/ { sum += $1 } END { print sum + 0 }'
}

# Samples that the reader has for an image.
read_samples()
{
	awk -F '\t' -v image="$1" '$1 == image { sum += $3 } END { print sum + 0 }' "$dir/read"
}

# One load, sampled with settings "$@", read by both.
compare() # NAME OPTION...
{
	name=$1
	shift
	opcontrol --session-dir="$session" --event=TIMER:500 --no-vmlinux --separate=none "$@" --start-daemon \
		>"$dir/output" 2>&1 || return
	opcontrol --mount="$fs" >"$dir/output" 2>&1
	ok "$name: a reader" foreign_reader
	fails "  has it for himself" 1 timeout 60 cat "$fs/buffer"
	has "    others get an error" "Device or resource busy"
	echo 1 >"$fs/enable"
	"$OP_BUILD_ROOT/tests/live/truth_jit" 600 >/dev/null &
	jit=$!
	"$(known_python || echo true)" "$dir/looping.py" &
	script=$!
	timeout 1 sh -c "while :; do :; done"
	# What a terminal gets is handed over by a kernel thread.
	script -qc "head -c 50000000 /dev/zero" /dev/null >/dev/null
	opreport --session-dir="$dir" >/dev/null 2>&1
	echo 1 >"$fs/dump"
	uses $jit 20
	[ ! -d /proc/$script ] || uses $script 20
	echo 0 >"$fs/enable"
	ok "  which ends with the samples" wait "$reader"
	reader=
	kill "$jit" "$script"
	wait "$jit" "$script" 2>/dev/null
	jit=
	script=
	is "  lost none" "$(cat "$fs/stats/event_lost_overflow")" 0
	is "  and counted as many as are recorded" \
		"$(awk -F '\t' '{ sum += $3 } END { print sum }' "$dir/read")" "$(counter samples)"
	as_read >"$dir/by_reader"
	reported >"$dir/by_report"
	ok "  image by image" diff -u "$dir/by_reader" "$dir/by_report"
	unplaced=$(read_samples unplaced)
	anon=$(($(read_samples anon) + $(read_samples gone) + unplaced))
	is "  anonymous memory" "$anon" "$(recorded_anon)"
	ok "    which ran" test "$anon" -gt 20
	ok "    by its address in the maps" test "$((unplaced * 1000))" -le "$(counter samples)"
	ok "  kernel threads have no application" grep -q " [1-9][0-9]* times no application" \
		"$dir/reader"
	ok "  among them the shell's" grep -q "$(readlink -f "$(command -v sh)")" "$dir/by_reader"
}

opcontrol --session-dir="$session" --event=TIMER:500 --start-daemon >"$dir/output" 2>&1 ||
	skip_all "no daemon here: $(cat "$dir/output")"
opcontrol --mount="$fs" >"$dir/output" 2>&1 ||
	skip_all "nothing can be mounted here: $(cat "$dir/output")"
opcontrol --umount="$fs" --shutdown >/dev/null
rm -rf "$session"
printf 'def looping():\n\twhile True:\n\t\tpass\nlooping()\n' >"$dir/looping.py"
compare "samples"
opcontrol --umount="$fs" --shutdown >/dev/null
rm -rf "$session"
for driver in perf auto; do
	compare "call chains of $driver" --driver=$driver --callgraph=16
	ok "  with their frames" grep -q " [1-9][0-9]* frames" "$dir/reader"
	! uses_bpf || ! known_python >/dev/null ||
		ok "  functions of a source file" test "$(read_samples "$dir/looping.py")" -gt 10
	opcontrol --umount="$fs" --shutdown >/dev/null
	rm -rf "$session"
done
opcontrol --session-dir="$session" --start-daemon >"$dir/output" 2>&1
opcontrol --mount="$fs" >/dev/null 2>&1

# Without samples a reader waits; whatever ends, he does not hang.
cat "$fs/buffer" >"$dir/read" 2>"$dir/reader" &
reader=$!
has_it()
{
	ls -l "/proc/$reader/fd" | grep -q "$fs/buffer"
}
ok "a reader waits" wait_for has_it
ok "  in his sleep" test "$(cut -d ' ' -f 3 "/proc/$reader/stat")" != R
kill "$reader"
ok "a signal ends him" wait_for test ! -e "/proc/$reader/exe"
fails "a read that is too short" 1 timeout 60 dd if="$fs/buffer" bs=8 count=1
has "  is invalid" "Invalid argument"
fails "who does not want to wait" 1 timeout 60 dd if="$fs/buffer" iflag=nonblock bs=65536 count=1
has "  need not" "Resource temporarily unavailable"
cat "$fs/buffer" >"$dir/read" 2>"$dir/reader" &
reader=$!
ok "another reader waits" wait_for has_it
kill -9 "$(daemon_pid)"
ok "the daemon's death ends him" wait_for test ! -e "/proc/$reader/exe"
wait "$reader"
is "  as the end of the file" "$?" 0
opcontrol --start-daemon >/dev/null
cat "$fs/buffer" >"$dir/read" 2>"$dir/reader" &
reader=$!
ok "another reader waits" wait_for has_it
server=
for stat in /proc/[0-9]*/stat; do
	set -- $(cat "$stat" 2>/dev/null)
	[ "${2:-}" = "(oprofilefs)" ] || continue
	tr '\0' ' ' <"/proc/$1/cmdline" | grep -q " $fs " && [ "$4" != 1 ] && server=$1
done
kill -9 $server
ok "the server's death ends him" wait_for test ! -e "/proc/$reader/exe"
wait "$reader"
is "  with an error" "$?" 1
reader=
opcontrol --mount="$fs" >/dev/null 2>&1
ok "another can begin" sh -c "cat '$fs/pointer_size' && timeout 1 cat '$fs/buffer'; [ \$? = 124 ]"
opcontrol --umount="$fs"
ok "shutdown" opcontrol --shutdown
done_testing
