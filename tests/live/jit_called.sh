#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# JIT code that is in call chains, but never sampled itself, has its name in all of them.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1

# whole SESSION: percent of the chains through work() that contain the JIT code by its name; the folded chains are its input
whole()
{
	awk '/;work;/ { all += $NF } /;main;trampoline[^;]*;work;/ { n += $NF }
		END { printf "%.0f\n", (all >= 1000 ? 100 * n / all : 0) }'
}

ok "a process whose JIT code only calls" profile called -g sh -c 'echo $$ >pid; exec truth_called 2'
rm -f "/tmp/perf-$(cat pid).map"
opreport --session-dir="$dir/called" --folded >folded 2>&1
cp folded output
echo "# $(whole <folded) % of the chains have the name"
ok "its name is in the chains" test "$(whole <folded)" -ge 95
ok "it has no sample of its own" sh -c "! find called/samples/current -name '{anon:anon}' | grep ."

ok "an archive" oparchive --session-dir="$dir/called" -o "$dir/archive"
opreport archive:archive --folded >folded 2>&1
cp folded output
ok "  has the name, too" test "$(whole <folded)" -ge 95
done_testing
