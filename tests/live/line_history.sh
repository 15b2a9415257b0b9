#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program is profiled, changed, built again at the same path, and profiled again: opreport --history-of
# finds a line of the first build, which is gone, by its text, and one that changed by its neighbours.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
command -v gcc >/dev/null || skip_all "no compiler"

mkdir "$dir/src"
cat >"$dir/src/work.c" <<'END'
volatile unsigned long sink;
__attribute__((noinline)) static void work(long n)
{
	unsigned long i, x = 1;

	for (i = 0; i < n; i++) {
		x = x * 6364136223846793005u + n / (x | 9);
		x ^= n / (x | 7);
	}
	sink = x;
}
int main(void)
{
	int i;

	for (i = 0; i < 10; i++)
		work(20000000);
	return 0;
}
END

# run [OPTION]: builds the program and profiles it.
run()
{
	gcc -g -O1 -Wl,--build-id -o "$dir/src/prog" "$dir/src/work.c" || skip_all "cannot compile"
	ok "operf${1:+ $1}" operf --session-dir="$dir/session" --driver="$driver" --rate=500 ${1:+"$1"} \
		"$dir/src/prog"
}

# line LINE: a line for each build: the number of the line, how it was found, and its samples.
line()
{
	opreport --session-dir="$dir/session" --history-of="src/work.c:$1" --csv --no-header \
		2>"$dir/output" | awk -F, '$4 != "" { print $13, $14, $6 }'
}

# Each line has divisions, as their samples are in their line even where those of the processor skid.
run
sed -i 's,x ^= n / (x | 7);,& x ^= n / (x | 1); x ^= n / (x | 3);,; 1i /* A line more. */\n\n#include <stddef.h>' \
	"$dir/src/work.c"
run --append
line 10 >"$dir/moved"
line 11 >"$dir/changed"
paste "$dir/moved" "$dir/changed" | sed 's/^/# /'
is "a line that moved is found by its text" "$(awk '{ print $1, $2 }' "$dir/moved" | xargs)" \
	"7 text 10 text"
is "a line that changed is found by its neighbours" "$(awk '{ print $1, $2 }' "$dir/changed" | xargs)" \
	"8 neighbour 11 text"
ok "the changed line takes more time" awk 'NR == 1 { before = $3 }
	NR == 2 { after = $3 }
	END { exit !(after > before + 5 * sqrt(before + after)) }' "$dir/changed"
is "opcheck finds nothing" "$(opcheck "$dir/session" 2>&1 | grep -c damaged)" 0
done_testing
