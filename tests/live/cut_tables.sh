#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of a program that was not sampled for a day, only sampled functions are kept. When another function of it
# is sampled, all are read again: it has its name, also when the program is gone.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
command -v gcc >/dev/null || skip_all "no compiler"
OPROFILE_SYMBOL_CACHE=no
export OPROFILE_SYMBOL_CACHE

cat >"$dir/prog.c" <<'END_OF_SOURCE'
volatile unsigned long sink;
#define WORK(name)                                                                                         \
	__attribute__((noinline)) static void name(long n)                                                 \
	{                                                                                                  \
		while (n--)                                                                                \
			sink = sink * 3 + n / 7;                                                           \
	}
WORK(first)
WORK(second)
int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < 20; i++)
		(argc == 1 ? first : second)(20000000);
	return argv == 0;
}
END_OF_SOURCE
# A table of one block of a file system is not cut.
awk 'BEGIN { for (i = 1; i < 2000; i++) printf "void f%d_%x(void) { }\n", i, i * 40503 % 65536 * 48271 % 2147483647 }' \
	>>"$dir/prog.c"
gcc -w -O1 -Wl,--build-id -o "$dir/prog" "$dir/prog.c" || skip_all "cannot compile"
table=$dir/session/symbols/$(readelf -n "$dir/prog" | sed -n 's/.*Build ID: //p')

# run [WORD]: profiles the program.
run()
{
	ok "operf ${1:-}" operf --session-dir="$dir/session" --driver="$driver" --rate=500 --append "$dir/prog" "$@"
}
# named FUNCTION: whether it has many samples.
named()
{
	opreport --session-dir="$dir/session" -l 2>"$dir/output" | tee -a "$dir/output" |
		awk -v name="$1" '$NF == name { n = $1 } END { exit !(n > 50) }'
}
# is_cut: whether functions were left out of the table.
is_cut() { head -c 8 "$table" | grep -q opfuncs2; }
# cut DAYS: cuts the table as if the program had last been sampled so many days ago.
cut()
{
	touch -d "$1 days ago" "$table"
	"$live/cut_tables" "$dir/session/samples/current"
}

run
cut 0
ok "the table of a program of today is whole" sh -c "! head -c 8 '$table' | grep -q opfuncs2"
cut 2
ok "that of a program of the day before yesterday is cut" is_cut
mv "$dir/prog" "$dir/kept"
ok "  but has the sampled function" named first
mv "$dir/kept" "$dir/prog"
run word
ok "another function has its name" named second
ok "  and the table is whole" sh -c "! head -c 8 '$table' | grep -q opfuncs2"
cut 2
mv "$dir/prog" "$dir/kept"
ok "cut again, and without the program, the first has its name" named first
ok "  and the second" named second
is "opcheck finds nothing" "$(opcheck "$dir/session" 2>&1 | grep -c damaged)" 0
done_testing
