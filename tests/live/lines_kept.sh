#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program with debug information is profiled and removed: reports still have its source lines and
# inlined calls. A second run adds those of other functions.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
command -v gcc >/dev/null || skip_all "no compiler"
OPROFILE_SYMBOL_CACHE=no
export OPROFILE_SYMBOL_CACHE

mkdir "$dir/src"
cat >"$dir/src/work.c" <<'END'
#ifndef MIX
#define MIX always_inline
#endif
volatile unsigned long sink;
static inline __attribute__((MIX)) unsigned long mix(unsigned long x)
{
	x = x * 6364136223846793005u + 1442695040888963407u;
	return x ^ x / 7;
}
static inline __attribute__((always_inline)) unsigned long twice(unsigned long x)
{
	return mix(mix(x));
}
__attribute__((noinline)) static void work(long n)
{
	unsigned long i, x = 1;

	for (i = 0; i < n; i++)
		x = twice(x);
	sink = x;
}
__attribute__((noinline)) static void other(long n)
{
	unsigned long i, x = 1;

	for (i = 0; i < n; i++)
		x = x / 3 + i;
	sink = x;
}
int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < 20; i++)
		if (argc > 1)
			other(20000000);
		else
			work(20000000);
	return argv == 0;
}
END
gcc -g -O1 -Wl,--build-id -o "$dir/src/prog" "$dir/src/work.c" || skip_all "cannot compile"
ok "operf" operf --session-dir="$dir/session" --driver="$driver" --rate=500 --callgraph=16 "$dir/src/prog"
ok "operf, another function" operf --session-dir="$dir/session" --driver="$driver" --rate=500 \
	--callgraph=16 --append "$dir/src/prog" other
mv "$dir/src/prog" "$dir/src/kept"

# percent PATTERN: of the samples, in rows that match, rounded down.
percent()
{
	awk -v pattern="$1" '$0 ~ pattern { sum += $2 } END { print int(sum) }' "$dir/report"
}
opreport --session-dir="$dir/session" -l --debug-info --inlines >"$dir/report" 2>&1
grep 'prog ' "$dir/report" | sed 's/^/# /'
ok "inlined calls have the line of the call" test "$(percent 'work.c:12 .* mix .inlined')" -ge 25
ok "functions of both runs have lines" test "$(percent 'work.c:.* (work|other|mix .inlined.)$')" -ge 90
opreport --session-dir="$dir/session" --chains --inlines >"$dir/report" 2>&1
ok "chains have inlined calls" sh -c "grep -A 2 'mix (inlined)' '$dir/report' | grep -A 1 'twice (inlined)' |
	grep -q ' work '"
opannotate --session-dir="$dir/session" --source >"$dir/report" 2>&1
ok "opannotate shows the lines" test "$(awk '/x \^ x \/ 7/ { print int($2) }' "$dir/report")" -ge 10
ok "  and where they were inlined" grep -q 'mix(mix(x)).*mix inlined: ' "$dir/report"
cp "$dir/src/work.c" "$dir/src/work.old"
sed -i 's,x / 7,x / 9,; 1i /* A line more. */' "$dir/src/work.c"
touch -d '1 hour' "$dir/src/work.c"
opannotate --session-dir="$dir/session" --source >"$dir/report" 2>&1
ok "  and finds them in a source that was changed" test \
	"$(awk '/x = x \* 6364136223846793005u/ { print int($1) }' "$dir/report")" -ge 10
ok "  with those that it does not have after it" test \
	"$(awk '/line 8 of mix as it was: not found/ { print int($2) }' "$dir/report")" -ge 10
mv "$dir/src/work.old" "$dir/src/work.c"
is "opcheck finds nothing" "$(opcheck "$dir/session" 2>&1 | grep -c damaged)" 0

# The same as with the file.
touch -d '1 hour ago' "$dir/src/work.c"
for way in gone here; do
	[ $way = gone ] || mv "$dir/src/kept" "$dir/src/prog"
	opreport --session-dir="$dir/session" -l --debug-info --inlines --csv --no-header \
		2>/dev/null | sort >"$dir/$way"
done
is "reports with the file are the same" "$(cmp "$dir/gone" "$dir/here" 2>&1)" ""

# A build in which it is not inlined.
gcc -w -g -O1 -DMIX=noinline -Wl,--build-id -o "$dir/src/next" "$dir/src/work.c"
mv "$dir/src/next" "$dir/src/prog"
ok "a build in which a function is not inlined" operf --session-dir="$dir/session" --driver="$driver" \
	--rate=500 --append "$dir/src/prog"
opreport --session-dir="$dir/session" --history-of="src/work.c:8" --csv --no-header >"$dir/report" 2>&1
awk -F, '$4 != "" { print $13, $14, $6 }' "$dir/report" | sed 's/^/# /'
is "--history-of finds its line in both" \
	"$(awk -F, '$4 != "" && $6 > 50 { print $13 }' "$dir/report" | xargs)" "8 8"
done_testing
