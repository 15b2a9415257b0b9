# SPDX-License-Identifier: GPL-2.0-or-later
# AMD's instruction-based sampling, from the registers in the kernel's records to the report of each
# derived event, with exact counts; directly, and recorded and replayed. ibs_machine.c simulates the
# machine and contains the samples.
. "$OP_SOURCE_ROOT/tests/live/lib.sh"
need_root
grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* . schedule$' /proc/kallsyms || skip_all "the kernel's addresses are hidden"

machine=$dir/machine
events=$(sed -n 's/.* name:\(IBS_[A-Z0-9_]*\) .*/\1/p' "$OP_SOURCE_ROOT/events/x86-64/ibs/events")
is "the events there are" "$(echo "$events" | wc -l)" 60

mkdir -p "$machine/proc" "$machine/sys/devices/system/cpu"
echo 0 >"$machine/sys/devices/system/cpu/online"
ln -s "$OP_SOURCE_ROOT/tests/fixtures/machines/amd-zen4/sys/bus" "$machine/sys/bus"
cp "$OP_SOURCE_ROOT/tests/fixtures/machines/amd-zen4/proc/cpuinfo" "$machine/proc"
ln -s /proc/sys /proc/kallsyms /proc/modules "$machine/proc/"

# sampled SESSION EVENTS...: one of them there.
sampled()
{
	sh -c 'ln -s "/proc/$$" "$0/proc/$$" && exec "$@"' "$machine" \
		"$OP_BUILD_ROOT/tests/live/ibs_machine" "$machine" "$@"
}

# all_with TERMS: every event followed by them, with commas in between.
all_with()
{
	echo "$events" | sed "/IBS_FETCH/s/\$/:250000:0$1/; /IBS_OP/s/\$/:250000:1$1/" | paste -sd,
}

# rows SESSION: what opreport says of each event that was sampled, "EVENT place count".
rows()
{
	find "$dir/$1" -name 'IBS_*' | sed 's,.*/,,; s,\..*,,' | sort -u | while read -r event; do
		opreport --session-dir="$dir/$1" -l "event:$event" |
			awk -v event="$event" '$NF ~ /^place_of_/ { print event, substr($NF, 10), $1 }'
	done | sort
}

# images SESSION: the samples of all ops by image, "count image", the kernel's name as "kernel".
images()
{
	opreport --session-dir="$dir/$1" event:IBS_OP_ALL |
		awk '$1 ~ /^[0-9]+$/ { print $1, ($NF == "ibs_machine" ? $NF : "kernel") }' | sort -n
}

sort >"$dir/expected" <<'END'
IBS_FETCH_4K_PAGE fetches 5
IBS_FETCH_ALL fetches 7
IBS_FETCH_ATTEMPTED fetches 7
IBS_FETCH_COMPLETED fetches 7
IBS_FETCH_ICACHE_HITS fetches 5
IBS_FETCH_ICACHE_MISSES fetches 2
IBS_FETCH_ITLB_HITS fetches 5
IBS_FETCH_L1_ITLB_MISSES_L2_ITLB_HITS fetches 2
IBS_FETCH_LATENCY fetches 410
IBS_OP_ALL branches 4
IBS_OP_ALL loads 10
IBS_OP_ALL stores 2
IBS_OP_TAG_TO_RETIRE loads 27
IBS_OP_COMP_TO_RET loads 15
IBS_OP_BRANCH_RETIRED branches 4
IBS_OP_MISPREDICTED_BRANCH branches 3
IBS_OP_TAKEN_BRANCH branches 3
IBS_OP_MISPREDICTED_BRANCH_TAKEN branches 3
IBS_OP_RETURNS branches 1
IBS_OP_ALL_LOAD_STORE loads 10
IBS_OP_ALL_LOAD_STORE stores 2
IBS_OP_LOAD loads 10
IBS_OP_STORE stores 2
IBS_OP_L1_DTLB_HITS loads 3
IBS_OP_L1_DTLB_HITS stores 2
IBS_OP_L1_DTLB_4K loads 3
IBS_OP_L1_DTLB_4K stores 2
IBS_OP_DATA_CACHE_MISS loads 10
IBS_OP_DATA_HITS stores 2
IBS_OP_MISALIGNED_DATA_ACC stores 2
IBS_OP_DC_LOAD_LAT loads 1360
IBS_OP_NB_LOCAL_ONLY loads 7
IBS_OP_NB_REMOTE_ONLY loads 3
IBS_OP_NB_LOCAL_L3 loads 4
IBS_OP_NB_REMOTE_CACHE loads 2
IBS_OP_NB_LOCAL_DRAM loads 3
IBS_OP_NB_REMOTE_DRAM loads 1
IBS_OP_NB_CACHE_MODIFIED loads 2
IBS_OP_NB_LOCAL_CACHE_LAT loads 760
IBS_OP_NB_REMOTE_CACHE_LAT loads 600
END

ok "samples are taken" sampled "$dir/all" "$(all_with "")" "$dir/stream"
feature=$(grep '^ibs:' "$dir/output")
has "  two are no samples" "^Nr. IBS Op incompletes    : 1$"
has "  one of them by its control register" "could not be attributed: 1$"
rows all >"$dir/rows"
ok "each event has its counts" diff "$dir/expected" "$dir/rows"
is "  the kernel has its own" "$(images all)" "2 kernel
16 ibs_machine"

ok "what was recorded is replayed" oprofiled --replay="$dir/stream" --session-dir="$dir/again" \
	--ext-feature="$feature"
rows again >"$dir/rows"
ok "  with the same counts" diff "$dir/expected" "$dir/rows"

ok "the kernel can be left out" sampled "$dir/user" "$(all_with :0:1)"
is "  then only programs have samples" "$(images user)" "16 ibs_machine"
ok "programs can be left out" sampled "$dir/kernel" "$(all_with :1:0)"
is "  then only the kernel has" "$(images kernel)" "2 kernel"
ok "one kind can be sampled alone" sampled "$dir/op" IBS_OP_LOAD:250000:1,IBS_OP_STORE:250000:1
rows op >"$dir/rows"
is "  and has its events only" "$(cat "$dir/rows")" "IBS_OP_LOAD loads 10
IBS_OP_STORE stores 2"
done_testing
