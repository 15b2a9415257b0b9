#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of the chains of what a distribution builds, without frame pointers, 99.5 % reach the entry of the
# process, once the tables of what runs are loaded.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
operf --driver=bpf --session-dir="$dir/first" --callgraph true >"$dir/output" 2>&1 ||
	skip_all "$(tail -n 1 "$dir/output")"

# source N: a program of so many functions.
source()
{
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "int f%d(int *a, int n)" \
		" { int s = 0; while (n--) s += a[n] %% (n + %d); return s; }\n", i, i + 2 }'
}
source 40 >"$dir/cc1.c"
source 150 >"$dir/clang.c"
head -c 2000000 /dev/urandom >"$dir/noise"
cat >"$dir/work.py" <<'EOT'
import json
for i in range(60):
    json.dumps([[j] * 10 for j in range(5000)])
EOT

# path_of PROGRAM: where it is, links resolved; nothing where it is not installed.
path_of()
{
	case $1 in
	cc1) path=$(gcc -print-prog-name=cc1 2>/dev/null) ;;
	python3) path=/usr/bin/python3 ;;
	*) path=$(command -v "$1") ;;
	esac
	[ ! -x "${path:-}" ] || readlink -f "$path"
}

# work_of PROGRAM PATH: some seconds of it.
work_of()
{
	case $1 in
	cc1) "$2" -quiet -O2 "$dir/cc1.c" -o /dev/null ;;
	clang) "$2" -cc1 -O2 -emit-obj -o /dev/null "$dir/clang.c" ;;
	python3) "$2" "$dir/work.py" ;;
	xz) "$2" -T1 -kc "$dir/noise" ;;
	esac >/dev/null
}

# all_work TIMES
all_work()
{
	for i in $(seq "$1"); do
		for program in cc1 clang python3 xz; do
			path=$(path_of $program)
			[ -z "$path" ] || work_of $program "$path" || return
		done
	done
}

ok "a daemon that takes chains" opcontrol --session-dir="$session" --driver=bpf \
	--separate=library,kernel --event=TIMER:997 --callgraph=512 --unwind-memory=96M --start
ok "its status" opcontrol --status
has "  says what tables may take" "call chains by unwind tables of at most 96 MiB"
ok "programs run, so that their tables are loaded" all_work 1
ok "what was sampled until now is dropped" opcontrol --reset
ok "they run again" all_work 2
ok "dump" opcontrol --dump
for program in cc1 clang python3 xz; do
	path=$(path_of $program)
	if [ -z "$path" ]; then
		skip "chains of $program" "it is not installed"
		continue
	fi
	opreport --session-dir="$session" --chains --quality --top=1 image:"$path" >"$dir/quality" 2>&1
	# Five in a thousand may be incomplete, and five standard errors more.
	awk '$1 == "Call" { n = $NF + 0; broken = n * (100 - $3) / 100 }
		END { printf "%.0f of %d are not complete\n", broken, n; more = broken - 0.005 * n
			exit n < 300 || (more > 0 && more * more > 25 * 0.005 * n) }' "$dir/quality" >"$dir/count"
	status=$?
	sed 's/^/# /' "$dir/count"
	cat "$dir/quality" >"$dir/output"
	result $status "chains of $program"
done
ok "shutdown" opcontrol --shutdown
done_testing
