#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One run, profiled by perf record and by operf at the same time, gives the same profile.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
perf record -q -e cpu-clock -o "$dir/try" true >/dev/null 2>&1 || skip_all "perf record does not work here"

rate=3989
ok "perf record under operf" profile both \
	perf record -q -e cpu-clock -F "$rate" -o "$dir/perf.data" truth_chains 3 10 25 65
perf report -q -i "$dir/perf.data" --stdio -F sample,dso,sym -t ';' 2>/dev/null |
	awk -F ';' 'NF >= 3 {
		gsub(/^ +| +$/, "", $1); gsub(/^ +| +$/, "", $2); sub(/^ *\[.\] /, "", $3)
		gsub(/ +$/, "", $3)
		if ($1 + 0) print $1, "1.0", $2, $3
	}' >"$dir/perf.report"

# Of two samples of one program the shares differ by sqrt(2) times the standard error of one; on a busy
# machine what one of them lost comes on top.
lost=$(perf report -i "$dir/perf.data" --stdio 2>/dev/null |
	sed -n 's/^# Total Lost Samples: \([0-9]*\)$/\1/p')
awk -v lost=$((${lost:-0} + $(lost_of both))) 'FNR == 1 { file++ }
$1 ~ /^[0-9]+$/ && $3 == "truth_chains" && $NF ~ /^chain_[abc]$/ { n[file, $NF] += $1; all[file] += $1 }
END {
	printf "operf %d samples, perf %d\n", all[1], all[2]
	bad = all[1] + lost < 8000 || all[2] + lost < 8000
	for (c = 1; c <= 3; c++) {
		s = "chain_" substr("abc", c, 1)
		a = n[1, s] / all[1]; b = n[2, s] / all[2]; p = (a + b) / 2
		error = sqrt(p * (1 - p) * (1 / all[1] + 1 / all[2]))
		printf "%s: operf %.3f %%, perf %.3f %%: %.2f standard errors\n", s, 100 * a, 100 * b, (a - b) / error
		if ((a - b) ^ 2 > (6 * error + lost / all[1] + lost / all[2]) ^ 2)
			bad = 1
	}
	printf "samples, operf to perf: %.3f\n", all[1] / all[2]
	exit bad || all[1] + lost < 0.95 * all[2] || all[2] + lost < 0.95 * all[1]
}' "$dir/both.report" "$dir/perf.report" >"$dir/output" 2>&1
same=$?
sed 's/^/# /' "$dir/output"
result $same "both have the same shares and the same number of samples"

done_testing
