#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Python functions are in call chains, between the C functions that they call and are called by; their
# own time is theirs, with lines.
OP_DRIVER=bpf
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
program=$OP_SOURCE_ROOT/tests/live/truth_python.py
python=${OP_PYTHON:-/usr/bin/python3}
"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info[:2] <= (3, 15))' 2>/dev/null ||
	skip_all "no Python from 3.8 to 3.15"
# Names have their class since 3.11.
method=$("$python" -c 'import sys; print("Compared." * (sys.version_info >= (3, 11)) + "__lt__")')
rate=1999

# chain_counts TITLE NAME: each kind of work has the share of samples that it has of the CPU time, all
# of its samples have the functions that lead there, and they are few that have none of these.
chain_counts()
{
	awk 'NR == FNR { spent[$1] = $2; all += $2; next }
	{ n = $NF; sub(/ [0-9]+$/, ""); total += n }
	!/;main;/ { next }
	{
		inside += n
		for (kind in spent)
			if (index($0, ";main;" kind))
				found[kind] += n
	}
	END {
		for (kind in spent) {
			due = inside * spent[kind] / all
			off = found[kind] - due
			printf "%s: %d samples, %.0f expected\n", kind, found[kind], due
			if (off * off > 25 * due + 0.0004 * inside * inside || due < 50)
				bad = 1
		}
		printf "%d of %d samples in main()\n", inside, total
		exit bad || inside < 0.8 * total || inside < 1000
	}' "$dir/$2.shares" "$dir/$2.folded" >"$dir/output"
	held=$?
	sed 's/^/# /' "$dir/output"
	result $held "$1"
}

# leads TITLE NAME LEAF TIMES PATTERN: 98 % of the samples in this function are in so many calls of it,
# with this path from main() to the first one.
leads()
{
	awk -v leaf="$3" -v times="$4" -v path="$5;$3(;|\$)" '{ n = $NF; sub(/ [0-9]+$/, "") }
	index($0 ";", ";" leaf ";") {
		all += n
		calls = gsub(";" leaf, "&")
		if (calls <= times && (calls == times || !/;spin$/) && $0 ~ path)
			good += n
		else
			print
	}
	END { printf "%d of %d samples\n", good, all; exit !(all >= 50 && good >= 0.98 * all) }' \
		"$dir/$2.folded" >"$dir/output"
	held=$?
	result $held "$1"
}

for where in "" thread; do
	run=python$where
	ok "a Python program${where:+ in a $where}" profile $run --callgraph=200 "$python" "$program" 4 $where
	opreport --session-dir="$dir/$run" --folded >"$dir/$run.folded" 2>/dev/null
	chain_counts "  its chains have the shares of its work" $run
	leads "  a function that Python calls" $run leaf_plain 1 ";main(;[^;]*)*;work_plain(;[^;]*)*"
	leads "  a function that C calls" $run leaf_key 1 ";main(;[^;]*)*;work_key(;[^;]*)+"
	leads "  a function of another module" $run leaf_matched 1 ";main(;[^;]*)*;work_matched(;[^;]*)*;sub(;[^;]*)+"
	leads "  a generator" $run leaf_generator 1 ";main(;[^;]*)*;work_generator(;[^;]*)+"
	leads "  a recursion" $run leaf_recursive 21 ";main(;[^;]*)*;work_recursive(;[^;]*)*"
	leads "  a method that C calls" $run "$method" 1 ";main(;[^;]*)*;work_compared(;[^;]*)+"
	leads "  code that is made and thrown away" $run leaf_made 1 ";main(;[^;]*)*;work_made(;[^;]*)*;<module>(;[^;]*)*"
	leads "  a name that is not ASCII" $run work_größe 1 ""
	ok "  all frames could be read" test \
		$(($(stat_of $run script_bad_frame) + $(stat_of $run script_bad_code))) -le 20
	echo "# without Python: $(stat_of $run script_no_thread); late: $(stat_of $run script_unreadable)," \
		"$(stat_of $run script_ring_full)"
done

session=$dir/python
opreport --session-dir="$session" -d -g --merge=all --json lib-image:"$program" >"$dir/details" 2>/dev/null
opreport --session-dir="$session" --chains --json >"$dir/chains" 2>/dev/null
ok "its lines and stacks are those of Python itself" \
	"$python" "$OP_SOURCE_ROOT/tests/live/python_check.py" "$program" "$dir/details" "$dir/chains"
sed 's/^/# /' "$dir/output" | tail -n 2

opannotate --session-dir="$dir/python" --source truth_python.py >"$dir/annotated" 2>/dev/null
awk '/^ *[0-9]+ .*:/ { all += $1; if (/for i in range\(n\):|total \+= i & 7/) loop += $1 }
END { printf "%d of %d samples\n", loop, all; exit !(all > 500 && loop >= 0.7 * all) }' "$dir/annotated" >"$dir/output"
result $? "its own time is in the lines of its loop"

# Processes that follow each other, as the workers of a server do.
# shellcheck disable=SC2016 # expanded by the inner shell
ok "a program that is started again and again" profile again --callgraph=200 \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$0" "$1" 0.2; done' "$python" "$program"
opreport --session-dir="$dir/again" --children -n >"$dir/children" 2>/dev/null
awk '$5 == "truth_python.py" { print $NF }' "$dir/children" | sort >"$dir/functions"
cp "$dir/children" "$dir/output"
ok "  has each function once" test "$(wc -l <"$dir/functions")" -ge 15 -a -z "$(uniq -d "$dir/functions")"

# Scripts that are gone before anybody can ask for their names.
mkdir "$dir/scripts"
i=0
while [ $i -lt 500 ]; do
	printf 'def short_%d():\n    for i in range(600000):\n        pass\nshort_%d()\n' $i $i >"$dir/scripts/$i.py"
	i=$((i + 1))
done
# shellcheck disable=SC2016
ok "500 short scripts" profile short --callgraph=200 \
	sh -c 'for script in "$1"/*.py; do "$0" -I -S "$script"; done' "$python" "$dir/scripts"
opreport --session-dir="$dir/short" -l -f -n --merge=all >"$dir/output" 2>/dev/null
awk -v below="$dir/scripts/" 'index($3, below) == 1 { all += $1; if ($NF ~ /^short_/) { named += $1; seen++ } }
	/ <module>$/ && index($3, below) == 1 { named += $1 }
	END { printf "%d of %d samples are named, in %d scripts\n", named, all, seen
		exit !(seen >= 475 && named >= 0.99 * all) }' "$dir/output" >"$dir/counted"
held=$?
sed 's/^/# /' "$dir/counted"
result $held "  have names"
mkdir "$dir/below"
cat >"$dir/above.py" <<'EOF'
def burn():
    for i in range(6000000):
        pass
burn()
EOF
(cd "$dir/below" && operf -g --session-dir="$dir/up" "$python" ../above.py) >"$dir/output" 2>&1
opreport --session-dir="$dir/up" -l -f >"$dir/report" 2>/dev/null
ok "a path that leads upwards is that of the file" grep -q " $dir/above.py  *burn" "$dir/report"
cat >"$dir/twins.py" <<'EOF'
print(sum(i for i in range(2000000)), sum(i for i in range(3000000)))
EOF
operf --session-dir="$dir/twins" "$python" "$dir/twins.py" >"$dir/output" 2>&1
opreport --session-dir="$dir/twins" -l '{' session:current '}' '{' time:.. '}' >"$dir/report" 2>"$dir/said"
ok "functions of one name are compared" grep -q " twins.py .*<genexpr>" "$dir/report"
is "  and their file is not taken for a program" "$(cat "$dir/said")" ""
done_testing
