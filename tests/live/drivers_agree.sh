#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# One run, sampled by both drivers at the same time, gives the same profile.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling

rate=3989
ok "one run under both drivers" profile bpf \
	operf --driver=perf --session-dir="$dir/perf" --rate="$rate" truth_chains 3 10 25 65
report perf
is "  both sampled it" "$(grep -c . "$dir/perf.report" >"$dir/n" && [ "$(cat "$dir/n")" -gt 5 ] && echo yes)" yes

# Of two samples of one program the shares differ by sqrt(2) times the standard error of one; on a busy
# machine what one of them lost comes on top.
awk -v lost=$(($(lost_of bpf) + $(lost_of perf))) 'FNR == 1 { file++ }
$1 ~ /^[0-9]+$/ && $3 == "truth_chains" && $NF ~ /^chain_[abc]$/ { n[file, $NF] += $1; all[file] += $1 }
END {
	printf "bpf %d samples, perf %d\n", all[1], all[2]
	bad = all[1] + lost < 8000 || all[2] + lost < 8000
	for (c = 1; c <= 3; c++) {
		s = "chain_" substr("abc", c, 1)
		a = n[1, s] / all[1]; b = n[2, s] / all[2]; p = (a + b) / 2
		error = sqrt(p * (1 - p) * (1 / all[1] + 1 / all[2]))
		printf "%s: bpf %.3f %%, perf %.3f %%: %.2f standard errors\n", s, 100 * a, 100 * b, (a - b) / error
		if ((a - b) ^ 2 > (6 * error + lost / all[1] + lost / all[2]) ^ 2)
			bad = 1
	}
	exit bad || all[1] + lost < 0.95 * all[2] || all[2] + lost < 0.95 * all[1]
}' "$dir/bpf.report" "$dir/perf.report" >"$dir/output" 2>&1
same=$?
sed 's/^/# /' "$dir/output"
result $same "both have the same shares and the same number of samples"

# The files that were sampled are the same to both: name, build-id, size, time, identity.
# One driver may have met a library that the other has not.
awk '/truth_chains|libc.so/ && FNR == NR { line[$1] = $0 }
/truth_chains|libc.so/ && FNR != NR && $1 in line {
	print; same++
	if (line[$1] != $0) { print "other driver: " line[$1]; differ = 1 }
}
END { exit differ || !same }' "$dir/bpf/samples/current/images" "$dir/perf/samples/current/images" >"$dir/output"
result $? "and both name the same files"

# Chains that both can follow: a copy of one stack holds neither all of a long one nor another. Those of the
# first moments may be cut because the program's tables are not loaded: they are known to operf in advance
# only for its own target, which is the other operf.
rate=1999
ok "one run with its chains" profile bpf_chains --callgraph=256 operf --driver=perf --callgraph=256 \
	--session-dir="$dir/perf_chains" --rate="$rate" truth_unwind all 4
for by in bpf perf; do
	opreport --session-dir="$dir/${by}_chains" --folded 2>/dev/null |
		grep '^truth_unwind;\(_start\|[[]not_loaded[]]\);' |
		grep -v '_[[]k[]]\|;huge_frame;\|;run_altstack;' >"$dir/$by.folded"
done
awk -v lost=$(($(lost_of bpf_chains) + $(lost_of perf_chains))) 'FNR == 1 { file++ }
/^truth_unwind;[[]not_loaded/ { lost += $NF; cut += $NF; next }
{ count = $NF; sub(/ [0-9]+$/, ""); chain[$0]; n[file, $0] += count; all[file] += count }
END {
	for (c in chain) {
		if (n[1, c] + n[2, c] < 100)
			continue
		a = n[1, c] / all[1]; b = n[2, c] / all[2]; p = (a + b) / 2
		error = sqrt(p * (1 - p) * (1 / all[1] + 1 / all[2]))
		if ((a - b) ^ 2 > (6 * error + lost / all[1] + lost / all[2]) ^ 2) {
			printf "bpf %.3f %%, perf %.3f %%: %s\n", 100 * a, 100 * b, c
			bad = 1
		}
		in_both += a * b > 0
	}
	printf "%d chains: bpf %d samples, perf %d, cut %d\n", in_both, all[1], all[2], cut
	exit bad || in_both < 8 || cut > 0.5 * (all[1] + all[2])
}' "$dir/bpf.folded" "$dir/perf.folded" >"$dir/output" 2>&1
same=$?
sed 's/^/# /' "$dir/output"
result $same "both have the same chains, as often"
done_testing
