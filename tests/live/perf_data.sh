#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What perf record writes becomes a profile with the counts that perf report shows: as a file, through a
# pipe, compressed, with build-ids in mappings, of the whole machine, and with callers.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
need_root
command -v perf >/dev/null || skip_all "needs perf"
cd "$dir" || exit 1
export HOME="$dir" OPROFILE_SYMBOL_CACHE=no

cat >work.c <<'END'
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) static void spin(long n) { for (long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void light(void) { spin(20000000); sink++; }
__attribute__((noinline)) void heavy(void) { for (long i = 0; i < 60000000; i++) sink -= i; }
__attribute__((noinline)) void kernel(void) { for (long i = 0; i < 200000; i++) sink += getppid(); }
int main(void)
{
	if (fork())
		heavy();
	else
		light();
	kernel();
	return 0;
}
END
cc -O0 -fno-omit-frame-pointer -o work work.c || skip_all "no C compiler"
perf record -o try.data -e cpu-clock true >output 2>&1 || skip_all "perf record does not work here"

# by_perf FILE, by_us SESSION: "samples image symbol" of the program, and the samples of each image.
# The kernel's symbols have aliases, of which each tool may show another one. To perf each BPF program is an
# image; other tests load some, which run when a process begins.
by_perf()
{
	perf report -i "$1" --stdio -q --no-children -g none --percent-limit 0 -F sample,dso,sym \
		2>/dev/null </dev/null |
		awk 'NF { sub(".*/", "", $2); if ($2 ~ /^\[|^bpf_prog_/) $2 = "kernel"; all[$2] += $1 }
		     $2 == "work" && $4 !~ /^_init|@plt/ { print $1, $2, $4 }
		     END { for (i in all) print all[i], i }' | sort
}

by_us()
{
	opreport --session-dir="$1" -l --csv --merge=all 2>/dev/null |
		awk -F, 'NR > 1 { sub(".*/", "", $2); if ($2 ~ /kallsyms|^\[|^bpf/) $2 = "kernel"
				  all[$2] += $9 }
			 NR > 1 && $2 == "work" && $4 !~ /^_init|@plt/ { print $9, $2, $4 }
			 END { for (i in all) print all[i], i }' | sort
}

# compare NAME FILE: imports the file; both agree, and no sample is missing.
compare()
{
	rm -rf session
	opimport --output=session "$2" 2>imported || cat imported
	by_perf "$2" >perf.txt
	by_us session >us.txt
	diff perf.txt us.txt >output && [ "$(awk 'NF == 2 { n += $1 } END { print n + 0 }' us.txt)" -gt 50 ]
	result $? "$1: the counts are those of perf report"
	is "$1: nothing is missing" "$(opreport --session-dir=session -l 2>/dev/null |
		grep -cE '^(Lost|Note)')" 0
}

# record FILE OPTION...
record()
{
	perf record -q -o "$@" >output 2>&1
}

record file.data -e cpu-clock ./work && compare "a file" file.data
record fixed.data -e cpu-clock -c 500000 ./work && compare "a fixed period" fixed.data
record packed.data -z -e cpu-clock -g ./work && compare "compressed" packed.data
record ids.data --buildid-mmap -e cpu-clock ./work && compare "build-ids in mappings" ids.data
perf record -q -o - -e cpu-clock ./work >piped.data 2>/dev/null && compare "a pipe" piped.data

# Callers: perf's own records of the chains, without the addresses that it cannot place.
record chains.data -e cpu-clock:u -g ./work
rm -rf session
opimport -o session chains.data 2>/dev/null
perf script -i chains.data -F comm,ip,sym 2>/dev/null </dev/null |
	awk 'NF == 1 && !chain { next } NF == 0 { if (chain ~ /;heavy$/) n++; chain = ""; next }
	     NF >= 2 { if (!chain) chain = ";" $2 }
	     END { print n + 0 }' >perf.txt
opreport --session-dir=session --folded 2>/dev/null |
	awk '/;heavy [0-9]+$/ { n += $NF } END { print n + 0 }' >us.txt
is "callers: as many chains end in heavy()" "$(cat us.txt)" "$(cat perf.txt)"
ok "callers: heavy() is called by main()" sh -c \
	"opreport --session-dir=session --folded | grep -q ';main;heavy '"

# The whole machine: every sample is there, or counted.
record all.data -a -e cpu-clock ./work
rm -rf session
opimport -o session all.data 2>imported
read -r got all <<END
$(sed -n 's/^opimport: \([0-9]*\) of \([0-9]*\) samples.*/\1 \2/p' imported)
END
is "the machine: all samples of the file" "$all" \
	"$(perf script -i all.data -F comm 2>/dev/null </dev/null | wc -l)"
lost=$(opreport --session-dir=session -l 2>/dev/null | awk '/^Lost: / { n += $2 } END { print n + 0 }')
is "the machine: what is not recorded is counted" $((got + lost)) "$all"

# A file that has gone is found in perf's cache.
record cached.data -e cpu-clock:u ./work
perf buildid-cache --add ./work >output 2>&1
mv work gone
rm -rf session
opimport -o session cached.data 2>/dev/null
ok "names come from perf's cache" sh -c "opreport --session-dir=session -l | grep -q 'work.* heavy'"
done_testing
