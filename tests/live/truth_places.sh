#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose files have moved or are out of reach: the image is still identified.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling

# image_has TITLE NAME IMAGE: two thousand samples and more are in that image, or were lost.
image_has()
{
	n=$(awk -v image="$3" '$1 ~ /^[0-9]+$/ && $3 == image { n += $1 } END { print n + 0 }' "$dir/$2.report")
	echo "# $n samples in $3"
	{ echo "$n samples in $3:" && cat "$dir/$2.log" "$dir/$2.err" "$dir/$2.report"; } >"$dir/output"
	[ "$n" -gt 0 ] && [ $((n + $(lost_of "$2"))) -ge 2000 ]
	result $? "$1"
}

# What runs below operf: a program at $1, and $2 is done as soon as it runs.
cat >"$dir/meanwhile" <<'END'
"$1" 0.5 25 75 &
until [ "$(readlink "/proc/$!/exe")" = "$1" ]; do sleep 0.01; done
eval "$2"
wait $!
END

cp "$live/truth_chains" "$dir/gone"
ok "a program deleted while it runs" profile deleted sh "$dir/meanwhile" "$dir/gone" "rm $dir/gone"
image_has "is an image of its own" deleted gone

cp "$live/truth_chains" "$dir/program"
cp "$live/truth_images" "$dir/other"
ok "a program replaced while it runs" profile replaced sh "$dir/meanwhile" "$dir/program" \
	"mv $dir/other $dir/program"
image_has "is an image of its own" replaced program
ok "and the report says that the file is another" sh -c \
	"opreport --session-dir='$dir/replaced' -l | grep '^Note: 1 of .* gone, changed or'"

ok "a program without a file" profile memfd truth_memfd "$live/truth_chains" 0.5 25 75
image_has "is called by its memfd" memfd memfd:truth

# in_time CHECK NAME COMMAND...: profiles the command and checks the session, again where the check exits
# with 2: memory was compared too late for it, as it may be on a busy machine. At most four times.
in_time()
{
	check=$1
	shift
	for _ in 1 2 3 4; do
		profile "$@" || return 1
		"$check"
		held=$?
		[ $held = 2 ] || return $held
	done
	return 2
}

moved_enough()
{
	awk '$3 == "truth_moved" && $NF ~ /^moved_/ { n += $1 } END { exit n < 5000 ? 2 : 0 }' "$dir/moved.report"
}

moved_chains()
{
	opreport --session-dir="$dir/moved" --folded | awk '
		{ n = $NF; all += n }
		/^truth_moved;_start;.*;main;(truth_run;)?moved_[ab] / { right += n }
		/^truth_moved;\[(moved|not_loaded|no_code)\];/ { early += n }
		/moved_[ab]/ && !/;main;|^truth_moved;\[(moved|not_loaded|no_code)\];/ { wrong += n }
		END { print right + 0, "right,", early + 0, "early,", wrong + 0, "wrong of", all
			exit wrong ? 1 : right < 0.8 * all ? 2 : 0 }'
}

for memory in anon writable memfd; do
	ok "a program that moves its text to memory ($memory)" in_time moved_enough moved truth_moved $memory 1
	holds "belongs to its file" moved 5000
	ok "  with call chains that are complete, except before the memory was compared" \
		in_time moved_chains moved --callgraph truth_moved $memory 2
done

replaced_chains()
{
	opreport --session-dir="$dir/replaced" --folded | awk -v late="$late" '
		/;chain_before / { n += $NF }
		/^truth_replaced;_start;.*;main;first;(spend;)?lib_calls;work_before;chain_before / { right += $NF }
		/;chain_after / { m += $NF }
		/;chain_after / && /lib_calls|first|_before/ { wrong += $NF }
		END { print right + 0, "of", n, "before,", wrong + 0, "wrong of", m, "after"
			exit wrong > late * m ? 1 : right < 0.8 * n || n < 5000 || m < 5000 ? 2 : 0 }'
}

# The kernel's records, which the driver perf reads, do not have what mremap(2) does: it is noticed after
# some seconds.
for how in map write move; do
	late=0 seconds=2
	[ "$driver $how" != "perf move" ] || late=0.9 seconds=6
	ok "text that was moved to memory, and then replaced by other code, is unwound as what it is then ($how)" \
		in_time replaced_chains replaced --callgraph truth_replaced "$how" "$seconds"
	[ $late = 0 ] || ok "  which the report says" \
		sh -c "opreport --session-dir='$dir/replaced' -l | grep 'maps_unrecorded'"
done

ok "code made at run time" profile jit truth_jit 1
holds "has its share" jit 5000

if [ "$(id -u)" = 0 ]; then
	mkdir "$dir/jail"
	cp "$live/truth_chains_static" "$dir/jail/jailed"
	ok "a program in a chroot" profile jail chroot "$dir/jail" /jailed 0.5 25 75
	image_has "is called by its path there" jail jailed

	if unshare -m mount -t tmpfs tmpfs "$dir/jail" 2>/dev/null; then
		ok "a program on a tmpfs in a mount namespace" profile tmpfs unshare -m sh -c \
			"mount -t tmpfs tmpfs $dir/jail && cp $live/truth_chains_static $dir/jail/fleeting &&
				$dir/jail/fleeting 0.5 25 75"
		image_has "is called by its path there" tmpfs fleeting
	fi

	mkdir "$dir/lower" "$dir/merged"
	cp "$live/truth_chains_static" "$dir/lower/layered"
	overlay="mount -t tmpfs tmpfs $dir/jail && mkdir $dir/jail/upper $dir/jail/work &&
		mount -t overlay overlay -o lowerdir=$dir/lower,upperdir=$dir/jail/upper,workdir=$dir/jail/work $dir/merged"
	if unshare -m sh -c "$overlay" >/dev/null 2>&1; then
		ok "a program on an overlay in a mount namespace" profile overlay \
			unshare -m sh -c "$overlay && $dir/merged/layered 0.5 25 75"
		image_has "is called by its path there" overlay layered
		ok "one that was written to the overlay's upper layer" profile upper \
			unshare -m sh -c "$overlay && cp $live/truth_chains_static $dir/merged/upper &&
				$dir/merged/upper 0.5 25 75"
		image_has "is called by its path there" upper upper
	else
		result 0 "a program on an overlay # SKIP no overlayfs here"
	fi
fi

done_testing
