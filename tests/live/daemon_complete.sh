#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# When unwind tables are loaded, 99.5 % of the chains of distribution binaries, which have no frame
# pointers, reach the entry of the process. OP_DRIVER selects the driver. The driver perf copies 32
# KiB of each stack, which compilers exceed; those chains are counted separately.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
driver=${OP_DRIVER:-bpf}
operf --driver="$driver" --session-dir="$dir/first" --callgraph true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"

awk 'BEGIN { for (i = 0; i < 150; i++) printf "int f%d(int *a, int n)" \
	" { int s = 0; while (n--) s += a[n] %% (n + %d); return s; }\n", i, i + 2 }' >"$dir/work.c"
head -c 2000000 /dev/urandom >"$dir/noise"
cat >"$dir/work.py" <<'EOT'
import json
for i in range(60):
    json.dumps([[j] * 10 for j in range(5000)])
EOT

# Copies, so that they are not what others run meanwhile.
for program in cc1 clang python3 xz; do
	case $program in
	cc1) path=$(gcc -print-prog-name=cc1 2>/dev/null) ;;
	python3) path=/usr/bin/python3 ;;
	*) path=$(command -v "$program") ;;
	esac
	[ ! -x "${path:-}" ] || cp "$(readlink -f "$path")" "$dir/$program"
done

# work_of PROGRAM: some seconds of it.
work_of()
{
	case $1 in
	cc1) "$dir/cc1" -quiet -O2 "$dir/work.c" -o /dev/null ;;
	clang) "$dir/clang" -cc1 -O2 -emit-obj -o /dev/null "$dir/work.c" ;;
	python3) "$dir/python3" "$dir/work.py" ;;
	xz) "$dir/xz" -T1 -kc "$dir/noise" ;;
	esac >/dev/null
}

# all_work TIMES
all_work()
{
	for i in $(seq "$1"); do
		for program in cc1 clang python3 xz; do
			[ ! -x "$dir/$program" ] || work_of $program || return
		done
	done
}

# Room for a second of stacks, on a busy machine.
buffer=
[ "$driver" = bpf ] || buffer=--cpu-buffer-size=4194304
# shellcheck disable=SC2086 # or nothing
ok "a daemon that takes chains" opcontrol --session-dir="$session" --driver="$driver" \
	--separate=library,kernel --event=TIMER:997 --callgraph=512 --unwind-memory=96M $buffer --start
ok "its status" opcontrol --status
has "  says what tables may take" "call chains by unwind tables of at most 96 MiB"
ok "programs run, so that their tables are loaded" all_work 1
ok "what was sampled until now is dropped" opcontrol --reset
ok "they run again" all_work 2
ok "dump" opcontrol --dump
for program in cc1 clang python3 xz; do
	if [ ! -x "$dir/$program" ]; then
		skip "chains of $program" "it is not installed"
		continue
	fi
	opreport --session-dir="$session" --chains --quality --top=1 image:"$dir/$program" >"$dir/quality" 2>&1
	case $driver-$program in
	perf-cc1 | perf-clang) cut=copy_short ;;
	*) cut=complete ;;
	esac
	# Five in a thousand may be incomplete, and five standard errors more.
	awk -v cut="$cut" '$1 == "Call" { n = $NF + 0
			for (i = 3; i + 2 < NF; i += 3) if ($(i + 2) ~ "^(complete|" cut "),?$") good += $i
			broken = good < 100 ? n * (100 - good) / 100 : 0 }
		END { printf "%.0f of %d are broken\n", broken, n; more = broken - 0.005 * n
			exit n < 300 || (more > 0 && more * more > 25 * 0.005 * n) }' "$dir/quality" >"$dir/count"
	status=$?
	sed 's/^/# /' "$dir/count"
	grep '^Call chains' "$dir/quality" | sed 's/^/# /'
	cat "$dir/quality" >"$dir/output"
	result $status "chains of $program"
done
ok "shutdown" opcontrol --shutdown
done_testing
