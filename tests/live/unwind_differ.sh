#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Chains by our tables, from copied stacks and from the kernel, equal libdw's: for programs that are
# hard to unwind, and for the distribution's programs on this machine. OP_SAMPLES: how many of each.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
need_root
live=$OP_BUILD_ROOT/tests/live
"$live/unwind_differ" 1 true >"$dir/output" 2>&1
[ $? != 3 ] || skip_all "$(cat "$dir/output")"

# differ NAME SAMPLES COMMAND...: no chain differs, and hardly one ends early.
differ()
{
	name=$1
	shift
	if ! command -v "$2" >/dev/null; then
		skip "$name" "$2 is not installed"
		return
	fi
	samples=${OP_SAMPLES:-$1}
	shift
	timeout 600 "$live/unwind_differ" "$samples" "$@" >"$dir/output" 2>&1
	status=$?
	sed 's/^/# /' "$dir/output" | grep -v '0x'
	result $status "chains of $name are libdw's"
}

for program in truth_unwind truth_unwind_static truth_unwind_lazy; do
	[ ! -x "$live/$program" ] || differ "$program" 300 "$live/$program" all 1
done
if [ -x "$live/truth_throw" ]; then
	differ "C++ exceptions" 200 "$live/truth_throw" 1
else
	skip "C++ exceptions" "no C++ compiler"
fi

# musl itself comes without call frame information, but what calls main() is known by its code.
if command -v musl-gcc >/dev/null; then
	musl-gcc -D_GNU_SOURCE -DTRUTH_STATIC -O2 -static -I"$OP_SOURCE_ROOT/tests/live" \
		-o "$dir/musl" "$OP_SOURCE_ROOT/tests/live/truth_unwind.c" 2>"$dir/output"
	differ "a program with musl" 300 "$dir/musl" all 1
	awk '/in the kernel:/ { for (i = 1; i < NF; i++) if ($i == "complete") n = $(i + 1) }
		/chains,/ { all = $4 } END { exit !all || n < 0.7 * all }' "$dir/output"
	result $? "  and most are complete"
else
	skip "a program with musl" "musl-gcc is not installed"
fi

if command -v rustc >/dev/null; then
	cat >"$dir/panic.rs" <<'EOT'
use std::collections::BTreeMap;
fn deep(n: u32) -> u64 { if n == 0 { panic!("bottom") } deep(n - 1) + n as u64 }
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut map: BTreeMap<u64, String> = BTreeMap::new();
    for i in 0..20000u64 {
        let _ = std::panic::catch_unwind(|| deep(20));
        for k in 0..20 { map.insert((i * 31 + k * 977) % 5000, format!("{}", i * k)); }
    }
    println!("{}", map.len());
}
EOT
	rustc -O -o "$dir/panic" "$dir/panic.rs" >"$dir/output" 2>&1
	differ "Rust and its panics" 200 "$dir/panic"
else
	skip "Rust" "rustc is not installed"
fi

head -c 3000000 /dev/urandom >"$dir/noise"
i=0
while [ $i -lt 150 ]; do
	echo "int f$i(int *a, int n) { int s = $i; for (int i = 0; i < n; i++) s += a[i] % ($i + 2); return s; }"
	i=$((i + 1))
done >"$dir/many.c"
cc1=$(gcc -print-prog-name=cc1 2>/dev/null || :)
differ cc1 200 "${cc1:-cc1}" -quiet -O2 "$dir/many.c" -o /dev/null
clang=$(readlink -f "$(command -v clang || echo clang)")
differ clang 150 "$clang" -cc1 -O2 -emit-obj -o /dev/null "$dir/many.c"
differ xz 200 xz -T1 -kc "$dir/noise"
# shellcheck disable=SC2016 # for the other shell
differ bash 200 bash -c 'for ((i = 0; i < 100000; i++)); do x=$((x + i)); y="${x%0}"; done'
python=/usr/bin/python3
[ -x $python ] || python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
differ python3 200 "$python" -c 'import json
for i in range(40): json.dumps([[j] * 10 for j in range(5000)])'
differ perl 150 perl -e 'for (1 .. 600000) { $h{$_ % 1000} .= "x" if $_ % 3 }'
node=$(readlink -f "$(command -v node || echo node)")
differ node 200 "$node" -e 'let s = 0; for (let i = 0; i < 3e6; i++) s += JSON.stringify({ a: i }).length'
cat >"$dir/Work.java" <<'EOT'
import java.util.TreeMap;
public class Work {
	public static void main(String[] args) {
		long end = System.currentTimeMillis() + 5000, sum = 0;
		while (System.currentTimeMillis() < end) {
			TreeMap<Integer, String> map = new TreeMap<>();
			for (int i = 0; i < 20000; i++) map.put(i * 31 % 9973, Integer.toString(i));
			sum += map.size();
		}
		System.out.println(sum);
	}
}
EOT
differ java 300 java "$dir/Work.java"
done_testing
