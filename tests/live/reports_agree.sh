#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles of real programs, with call chains, and without them by thread and CPU: all reports agree with
# each other, with what is stored, with those of archives, and with the programs' code
# (tests/truth/check.py).
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
for program in python3 objdump readelf gcc xz perl sort; do
	command -v "$program" >/dev/null || skip_all "needs $program"
done

cat >"$dir/work" <<'END'
i=0
while [ $i -lt 300 ]; do
	i=$((i + 1))
	echo "int f$i(int a, char *p) { int s = a; for (; *p; p++) switch (*p & 7) { case 1: s += $i; break; case 2: s *= a; break; default: s ^= *p; } return s; }"
done >"$dir/work.c"
gcc -O2 -c "$dir/work.c" -o "$dir/work.o"
python3 -c 'print("\n".join(str(i * 7919 % 1000003) for i in range(300000)))' >"$dir/numbers"
sort --parallel=2 -S 16M "$dir/numbers" >"$dir/sorted"
perl -ne '$n{length $_} .= substr $_, 0, 2; END { print join ",", map length, values %n }' "$dir/sorted" >/dev/null
xz -T2 -3 -c "$dir/sorted" >/dev/null
END
export dir

# agree TITLE NAME: the session's reports.
agree()
{
	ok "$1" python3 "$OP_SOURCE_ROOT/tests/truth/check.py" --calls "$OP_BUILD_ROOT/tools" "$dir/$2"
	sed -n 's/^# \([^:]*\): \([0-9]*\)$/# \1: \2/p' "$dir/output"
}

ok "programs are sampled with chains" operf --driver="$driver" --rate=997 --callgraph \
	--session-dir="$dir/chains" sh "$dir/work"
agree "  reports agree" chains
has "  and callers are checked" "^# step direct: [0-9]\{3,\}"
ok "programs are sampled by thread and CPU" operf --driver="$driver" --rate=997 --separate-thread \
	--separate-cpu --session-dir="$dir/apart" sh "$dir/work"
agree "  reports agree" apart
done_testing
