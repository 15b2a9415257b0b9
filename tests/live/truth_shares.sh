#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Shares known by construction: functions, images, threads, libraries that come and go, and every
# way to link a program.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling

ok "a program of 1 to 99" profile chains truth_chains 2 1 99
holds "has shares of 1 to 99" chains
adds_up "and no sample too few or too many" chains

for kind in nopie static static_pie; do
	ok "a program linked as $kind" profile "$kind" "truth_chains_$kind" 2 25 75
	holds "has shares of 25 to 75" "$kind"
done

ok "a program of four functions" profile four truth_chains 2 5 15 30 50
holds "has shares of 5, 15, 30 and 50" four

ok "a program with two libraries" profile images truth_images 2
holds "has shares of 50, 30 and 20" images
adds_up "and no sample too few or too many" images

ok "libraries that take turns at one address" profile dlopen truth_dlopen 3 \
	"$live/libtruth_plug_a.so" plug_a "$live/libtruth_plug_b.so" plug_b
holds "have shares of 75 and 25" dlopen
sed -n 's/^# /# /p' "$dir/dlopen.shares"

ok "four threads" profile threads truth_threads 2500
holds "have shares of 10, 20, 30 and 40" threads
adds_up "and no sample too few or too many" threads

done_testing
