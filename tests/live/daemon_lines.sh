#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon keeps the lines and inlined calls of the hottest functions: of a program that is built
# again while it runs, and of one whose file was removed while it runs.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
command -v gcc >/dev/null || skip_all "no compiler"
OPROFILE_SYMBOL_CACHE=no
export OPROFILE_SYMBOL_CACHE

cleanup()
{
	end_background
	stop_all
}

mkdir "$dir/src"
cat >"$dir/src/mixer.c" <<'END'
#include <stddef.h>
volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
	x = x * 6364136223846793005u + 1442695040888963407u;
	return x ^ x / 7;
}
__attribute__((noinline)) static void work(long n)
{
	unsigned long i, x = 1;

	for (i = 0; i < n; i++)
		x = mix(x);
	sink = x;
}
int main(void)
{
	for (;;)
		work(20000000);
}
END

# build: makes the program, in place of what is there.
build()
{
	gcc -g -O1 -Wl,--build-id -o "$dir/src/new" "$dir/src/mixer.c" && mv "$dir/src/new" "$dir/src/prog" &&
		id=$(readelf -n "$dir/src/prog" | sed -n 's/.*Build ID: //p')
}

# Whether the lines of the program that was built last are kept.
lines_kept()
{
	grep -q oplines1 "$session/symbols/$id" 2>/dev/null
}

build || skip_all "cannot compile"
ok "opcontrol --start" opcontrol --setup --session-dir="$session" --event=TIMER:500 \
	--callgraph=16 --start
background "$dir/src/prog"
ok "the lines of the first build are kept" wait_for lines_kept
end_background

# The same function some lines further down.
sed -i 's,^#include.*,/* Some lines. */\n\n\n\n&,' "$dir/src/mixer.c"
ok "the program is built again" build
background "$dir/src/prog"
# The file goes away as soon as it runs.
is_running()
{
	[ "$(readlink "/proc/$pid/exe")" = "$dir/src/prog" ]
}
ok "  and runs" wait_for is_running
ok "  and its file is removed" rm "$dir/src/prog"
ok "the lines of a file that was removed are kept" wait_for lines_kept
end_background
opcontrol --dump >"$dir/output" 2>&1
opcontrol --status | grep -i 'line' | sed 's/^/# /'
ok "opcontrol --stop" opcontrol --stop

# percent PATTERN: of the samples, in rows that match, rounded down.
percent()
{
	awk -v pattern="$1" '$0 ~ pattern { sum += $1 } / prog / { all += $1 }
		END { print (all ? int(100 * sum / all) : 0) }' "$dir/report"
}
opreport --session-dir="$session" -l --debug-info --inlines >"$dir/report" 2>&1
grep ' prog ' "$dir/report" | sed 's/^/# /'
ok "inlined calls of the first build have lines" test "$(percent 'mixer.c:13 .* mix .inlined')" -ge 15
ok "those of the second, too" test "$(percent 'mixer.c:17 .* mix .inlined')" -ge 15
opreport --session-dir="$session" --chains --inlines >"$dir/report" 2>&1
ok "chains have inlined calls" sh -c "grep -A 1 'mix (inlined)' '$dir/report' | grep -q ' work '"
# No other test has a file of that name, which the daemon would see, too.
opreport --session-dir="$session" --history-of="src/mixer.c:10" --csv --no-header >"$dir/report" 2>&1
awk -F, '$4 != "" { print $13, $14, $6 }' "$dir/report" | sed 's/^/# /'
is "--history-of finds the line in both builds" \
	"$(awk -F, '$4 != "" && $6 > 50 { print $13 }' "$dir/report" | sort -n | xargs)" "6 10"
is "opcheck finds nothing" "$(opcheck "$session" 2>&1 | grep -c damaged)" 0
done_testing
