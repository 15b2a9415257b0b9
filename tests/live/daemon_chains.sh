# SPDX-License-Identifier: GPL-2.0-or-later
# Call chains of the whole machine: recorded, written out, reported, saved, merged, checked.
. "$OP_SOURCE_ROOT/tests/live/daemon_lib.sh"
PATH=$OP_BUILD_ROOT/tests/live:$PATH

# samples_of SESSION: those whose stack is the program's known one, and those that are not, of all
# stacks with its innermost function.
samples_of()
{
	opreport --session-dir="$session" --folded "session:$1" image:"*truth_stacks" 2>/dev/null |
		awk '{ n = $NF; sub(/ [0-9]+$/, "") }
			/;leaf_deep(;|$)/ { if ($0 ~ /;main;deep;deep;deep;deep;deep;deep;leaf_deep(;[^;]*_[[]k[]])*$/) good += n; else bad += n }
			END { print good + 0, bad + 0 }'
}

ok "setup" opcontrol --setup --session-dir="$session" --separate=library,kernel \
	--event=TIMER:997 --callgraph=64 --callgraph-mode=fp
has "  is kept" "^CALLGRAPH=64$" "$OPROFILE_DAEMONRC"
has "  with the way to find callers" "^CALLGRAPH_MODE=fp$" "$OPROFILE_DAEMONRC"
ok "the daemon starts" opcontrol --start
has "  and says how chains are taken" "call chains by frame pointers, up to 64 deep"
ok "a program whose chains are known" truth_stacks 100 5
ok "dump" opcontrol --dump
# shellcheck disable=SC2046 # two words
set -- $(samples_of current)
echo "$1 true, $2 not" >"$dir/output"
[ "$1" -gt 50 ] && [ "$2" -le $(($1 / 50)) ]
result $? "its chains are whole while the daemon runs"
if ! command -v truth_32 >/dev/null || ! truth_32; then
	skip "a 32-bit program" "it cannot be built or run here"
else
	ok "a 32-bit program, which calls the system through its vdso" truth_32
	ok "  dump" opcontrol --dump
	ok "  that is kept, by a daemon that can start no process" test -s "$session/samples/current/vdso32"
fi
ok "status" opcontrol --status --json
has "  counts chains by their end" "chain_"
ok "save" opcontrol --save=first
ok "the program again" truth_stacks 100 5
ok "stop" opcontrol --stop
# shellcheck disable=SC2046
set -- $(samples_of first) $(samples_of current) $(samples_of first,current)
echo "$*" >"$dir/output"
[ "$1" -gt 50 ] && [ "$3" -gt 50 ] && [ $(($1 + $3)) = "$5" ]
result $? "two sessions add up"
chains=$(awk '{ n += $1 } END { print n }' "$session"/samples/current/stats/chain_*)
is "every sample has its chain" "$(counter samples)" "$chains"
is "  and every chain is in the store" \
	"$(opreport --session-dir="$session" --folded | awk '{ n += $NF } END { print n }')" "$chains"
ok "the store is whole" opcheck "$session"
is "  and nobody calls from memory that is no code" \
	"$(grep -c "^image.*$session/samples" "$session/samples/current/chains/names.0")" 0
ok "reset" opcontrol --reset
fails "leaves no chain" 1 opreport --session-dir="$session" --chains
ok "shutdown" opcontrol --shutdown

done_testing
