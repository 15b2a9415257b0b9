#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles of twenty real programs and more, with call chains, and without them by thread, CPU and cgroup; of
# threads, new code, and interpreters with all of these; and of time off the CPU: all reports agree with each
# other, with what is stored, with those of archives, and with the programs' code (tests/truth/check.py).
OP_DRIVER=bpf # reports do not depend on it
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_root
need_sampling
for program in python3 objdump readelf gcc xz perl sort awk sed grep gzip tar ld nm; do
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
cat "$dir/sorted" "$dir/sorted" "$dir/sorted" "$dir/sorted" >"$dir/long"
awk '{ n[$1 % 1009] += $1 } END { for (i in n) s += n[i]; print s }' "$dir/long" >/dev/null
sed -e 's/\([0-9]\)\([0-9]\)/\2\1/g' "$dir/sorted" >/dev/null
grep -cE '([0-9])\1(.).*\2' "$dir/sorted" | cat >/dev/null
gzip -6 -c "$dir/long" >/dev/null
tar -cf - -C "$dir" sorted long numbers | cat >/dev/null
sha256sum "$dir/long" "$dir/long" "$dir/long" >/dev/null
od -x "$dir/sorted" >/dev/null
cat "$dir/work.c" "$dir/work.c" "$dir/work.c" | ptx -w 40 >/dev/null
factor 10000000000000000000000000000000000000000000000000001 >/dev/null
archive=$(gcc -print-file-name=libc.a)
objdump -d "$dir/work.o" "$dir/work.o" >/dev/null
readelf --wide --all "$archive" >/dev/null
ld -r --whole-archive -o "$dir/linked.o" "$archive" 2>/dev/null
nm "$archive" >/dev/null 2>&1
for i in 1 2 3 4 5 6 7 8; do tar -cf - -C /usr include | cat >/dev/null; done
perl -ne '$n{length $_} .= substr $_, 0, 2; END { print join ",", map length, values %n }' "$dir/sorted" >/dev/null
xz -T2 -3 -c "$dir/sorted" >/dev/null
END
# Compilers and assembler of other kinds, as far as they are installed.
cat "$dir/work" - >"$dir/more" <<'END'
also()
{
	! command -v "$1" >/dev/null || "$@" >/dev/null 2>&1
}
also bzip2 -c "$dir/sorted"
also zstd -9 -q -c "$dir/long"
also openssl dgst -sha256 "$dir/long" "$dir/long" "$dir/long"
also openssl genrsa 2048
also sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000)
	select count(*), sum(x * x % 7), max(hex(x)) from c'
also luajit -joff -e 'local s = 0 for i = 1, 2e6 do s = s + i % 7 end'
also bash -c 'for ((i = 0; i < 60000; i++)); do s=$((s + i % 7)); [[ $i == *9 ]] && s=${s/1/2}; done'
find /usr/include -name '*.h' -printf '%p %s\n' | grep -cE '([0-9])\1(.).*\2' >/dev/null
END
export dir

# check NAME CALLS: compares the session's reports, while others are sampled no more.
check()
{
	python3 "$OP_SOURCE_ROOT/tests/truth/check.py" "$2" "$OP_BUILD_ROOT/tools" "$dir/$1" >"$dir/$1.agree" 2>&1
	echo $? >"$dir/$1.status"
}

# agree NAME: what check() has found.
agree()
{
	cp "$dir/$1.agree" "$dir/output"
	result "$(cat "$dir/$1.status")" "reports of $1 agree"
	sed -n 's/^# \([^:]*\): \([0-9]*\)$/# \1: \2/p' "$dir/output"
}

ok "programs are sampled with chains" operf --driver="$driver" --rate=997 --callgraph \
	--session-dir="$dir/chains" sh "$dir/more"
count=$(opreport --session-dir="$dir/chains" -n | grep -c "^ ")
ok "  $count of them" [ "$count" -ge 20 ]
ok "programs are sampled by thread, CPU and cgroup" operf --driver="$driver" --rate=997 --separate-thread \
	--separate-cpu --separate-cgroup --session-dir="$dir/apart" sh "$dir/work"

ok "waits are measured" operf --driver="$driver" --off-cpu --callgraph --session-dir="$dir/waits" \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i | cat; done; sort -R "$dir/numbers" | md5sum'
ok "  in milliseconds" sh -c 'opreport --session-dir="$dir/waits" -l event:OFFCPU | grep -q "^ms  *%"'

cat >"$dir/mixed" <<'END'
truth_jit 1
truth_threads 500
python3 -c "
def a(n): return sum(i * i for i in range(n))
for _ in range(300): a(5000)"
perl -e 'for $i (1 .. 2000000) { $s .= chr($i % 64 + 32) if $i % 3 }'
cd "$dir" # where node leaves a log
! command -v node >/dev/null || node --perf-basic-prof -e "
function a(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
for (let i = 0; i < 300; i++) a(1e6)"
END
ok "code made at run time and threads are sampled with everything apart" operf --driver="$driver" \
	--rate=997 --callgraph --separate-thread --separate-cpu --separate-cgroup \
	--session-dir="$dir/everything" sh "$dir/mixed"

OPROFILE_SYMBOL_CACHE=$dir/cache
export OPROFILE_SYMBOL_CACHE
# What differs between sessions is how they are separated, not how an archive or a choice of rows is made.
check apart --calls &
for session in chains waits everything; do
	check $session --calls-few &
done
wait
for session in chains apart waits everything; do
	agree $session
done
has "and callers are checked" "^# step direct: [0-9]\{3,\}" "$dir/chains.agree"
done_testing
