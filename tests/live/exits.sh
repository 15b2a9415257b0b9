#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a process does in the kernel after it has given up its memory belongs to its executable, whoever
# else runs on the same CPU meanwhile. What it does after it has given back its parent's stack has no caller
# there.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cp "$live/truth_exits" "$dir/stranger" || exit 1

cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
taskset -c "$cpu" "$dir/stranger" busy &
stranger=$!
cleanup() { kill "$stranger" 2>/dev/null; }

# applications NAME: those of the session, with their samples
applications() { awk '/^ *[0-9]+ +[0-9.]+ / { print $1, $3 }' "$dir/$1.images"; }
samples_of() { applications "$1" | awk -v name="$2" '$2 == name { n += $1 } END { print n + 0 }'; }

ok "20 processes with much to give back" taskset -c "$cpu" sh -c "
	$(command -v operf) --session-dir=$dir/exits --driver=$driver --rate=$rate --callgraph $live/truth_exits 20 32"
report exits
applications exits >"$dir/output"
sed 's/^/# /' "$dir/output"
is "are sampled under no other name" "$(applications exits | awk '$2 != "truth_exits"')" ""
[ "$(samples_of exits truth_exits)" -ge 500 ]
result $? "  often enough"
exiting=$(opreport --session-dir="$dir/exits" --folded 2>/dev/null | awk '/;do_exit_/ { n += $NF } END { print n + 0 }')
echo "$exiting samples below do_exit()" >"$dir/output"
[ "$exiting" -ge 200 ]
result $? "  also while they exit"

ok "children of vfork() execute programs or exit" operf --session-dir="$dir/vforks" --driver="$driver" \
	--rate="$rate" --callgraph "$live/truth_vforks" 4
opreport --session-dir="$dir/vforks" --folded >"$dir/vforks.folded" 2>/dev/null
if [ "$driver" = perf ]; then
	skip "  and are called by none of their parent's functions" "the driver perf cannot tell whose stack it is"
else
	grep -E 'parent_only;.*(execve|_exit);' "$dir/vforks.folded" >"$dir/output"
	[ ! -s "$dir/output" ]
	result $? "  and are called by none of their parent's functions"
fi
called=$(awk '/child_only;execve;/ { n += $NF } END { print n + 0 }' "$dir/vforks.folded")
echo "$called samples of execve() below child_only()" >"$dir/output"
[ "$called" -ge 100 ]
result $? "  but by their own"
done_testing
