#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions that no ordinary call enters, in a program without frame pointers: the chain of each is known,
# from the entry of its process, thread or context. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
operf --session-dir="$dir/try" --driver="$driver" --callgraph --callgraph-mode=table true \
	>"$dir/output" 2>&1 || skip_all "$(tail -n 1 "$dir/output")"
rate=1999

# Functions inside of libc, where no debug package names them; a static program has them itself.
any='[^;]+'

# chain TITLE LEAF PATTERN: of the samples in the function at most five in a thousand, and one, are not of a
# chain that is the pattern. What runs in the kernel on top is left out, and what was sampled before the table
# of a library was loaded.
chain()
{
	awk -v leaf="$2" -v pattern="^$program;$3;$2\$" '
		{ n = $NF; sub(/ [0-9]+$/, ""); sub(/;[^;]*_[[]k[]].*$/, "") }
		/;[[]not_loaded[]];/ { next }
		$0 ~ ";" leaf "$" { all += n; if ($0 ~ pattern) good += n; else print n, $0 }
		END { printf "%d of %d\n", good, all; exit all < 50 || good < 0.995 * all - 1 }' \
		"$dir/$program.folded" >"$dir/output"
	result $? "  $1"
}

# through TITLE NAME PATTERN: the same of leaf_NAME, which in_NAME calls.
through()
{
	chain "$1" "leaf_$2" "$3;in_$2"
}

# known PROGRAM [LIBRARY]: all parts of the program.
known()
{
	program=$1
	shift
	ok "$program" profile "$program" --callgraph --callgraph-mode=table "$program" 20 "$@"
	opreport --session-dir="$dir/$program" --folded >"$dir/$program.folded" 2>"$dir/$program.err"
	start="_start;__libc_start_main[^;]*"
	main="$start;($any;)?main"
	thread="($any;)?$any;($any;)?"
	# Only on x86-64 is all code known where a stack begins.
	bottom="([[]no_[a-z]*[]];)?"
	case $program.$(uname -m) in
	*_32.*) ;;
	*.x86_64) bottom= ;;
	esac

	through "a constructor" constructor "$start;($any;)?constructor"
	through "a function of atexit()" exit "$start;($any;)?exit;($any;)?at_exit"
	through "a child of vfork()" vfork "$main;run_vfork"
	through "a child that executes nothing" fork "$main;run_fork"
	through "a child with a stack of its own" clone "(__)?clone;cloned"
	through "a cancelled thread" cleanup "${thread}cancelled;cleanup"
	through "a destructor of a thread's data" destructor "${thread}destructor"
	through "a function of pthread_once()" once "$main;run_once;($any;)*once"
	through "a function of qsort()" sort "$main;run_sort;($any;)+compare"
	through "a function that longjmp() returned to" jump "$main;run_jump"
	through "frames of any size" array "$main;run_array;with_array"
	for context in one two; do
		through "context $context" $context "$bottom$any;$context"
	done
	through "an interrupted prologue or epilogue" alarm "$main;run_alarm;([^;]*time[^;]*;|small;(tiny;)?)?$any;on_alarm"
	if grep -q '^driver: bpf' "$dir/$program/samples/current/setup"; then
		through "a signal in a handler" nested "$main;run_nested;($any;)+on_first;($any;)+on_second"
	else
		# The copy of one stack has nothing of the other.
		through "a signal in a handler" nested "[[](unreadable|copy_short|no_table)[]];($any;)+on_first;($any;)+on_second"
	fi
	[ $# = 0 ] || chain "a library in a namespace of its own" plug_a "$main;run_namespace"

	case $program.$(uname -m) in
	*_32.*) ;;
	*.x86_64)
		chain "a system call that ends its function" last_call "$main;run_last"
		is "    on its way back, too" "$(grep -c ';after_last;.*do_syscall' "$dir/$program.folded")" 0
		;;
	esac

	# Where a thread or a process starts, nothing has called clone().
	awk -v right="^$program;($bottom(__)?clone3?(;|\$)|.*;main;)" '
		{ n = $NF; sub(/ [0-9]+$/, "") }
		!/;(__)?clone3?(;|$)/ { next }
		{ all += n }
		$0 !~ right { wrong += n; print n, $0 }
		END { printf "%d wrong of %d\n", wrong, all; exit all < 50 || wrong }' "$dir/$program.folded" >"$dir/output"
	result $? "  the first instructions of threads and processes"
}

# checked PROGRAM: before each return address is a call that leads there, or what begins a stack.
checked()
{
	command -v python3 >/dev/null && command -v objdump >/dev/null || return 0
	ok "  callers are callers" python3 "$OP_SOURCE_ROOT/tests/truth/check.py" --calls-only \
		"$OP_BUILD_ROOT/tools" "$dir/$1"
}

known truth_entries "$live/libtruth_plug_a.so"
checked truth_entries
known truth_entries_static
checked truth_entries_static
[ ! -e "$live/truth_entries_32" ] || known truth_entries_32
done_testing
