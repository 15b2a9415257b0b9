# SPDX-License-Identifier: GPL-2.0-or-later
# Tests what bash offers to complete a line: test.bash COMPLETION_FILE TOOLS_DIRECTORY; prints TAP.
source "$1"
PATH=$2:$PATH
tests=0 failures=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/session/samples/current" "$dir/session/samples/monday"

# Prints the completions of a line, requested as readline does, separated by blanks.
complete_line()
{
	local COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS COMP_CWORD COMPREPLY
	# With the default COMP_WORDBREAKS, readline makes "=" and ":" separate words.
	read -ra COMP_WORDS <<<"$(sed 's/\([=:]\)/ \1 /g' <<<"$1")"
	case $1 in *[[:blank:]=:]) COMP_WORDS+=("") ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_oprofile "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null
	echo "${COMPREPLY[*]}"
}

# offers LINE PATTERN: tests that the completions, with a blank at each end, match the glob.
offers()
{
	local got=" $(complete_line "$1") "
	tests=$((tests + 1))
	# shellcheck disable=SC2053 # a pattern
	if [[ $got == $2 ]]; then
		echo "ok $tests - $1"
	else
		failures=$((failures + 1))
		echo "not ok $tests - $1"
		echo "# offers '$got', which does not match '$2'"
	fi
}

offers "opcontrol --sta" " --start-daemon --start --status "
offers "opcontrol --session-d" " --session-dir= "
offers "opcontrol -" "* --dump -d *"
offers "opcontrol --separate=" "* library *"
offers "opcontrol --separate=lib" " library "
offers "operf --off-cpu=idle,w" " idle,wakers "
offers "opcontrol --separate=thread,c" " thread,cpu thread,cgroup thread,comm "
offers "opimport --separate=thread,c" " thread,cpu thread,comm "
offers "opcontrol --event=TIM" " TIMER "
offers "opcontrol --event TIM" " TIMER "
offers "opcontrol --event=TIMER,CPU_CLK" " TIMER,CPU_CLK_UNHALTED "
offers "opcontrol --event=upr" " uprobe: "
offers "operf -e uprobe:$dir/sess" " $dir/session "
offers "ocount --events=TIMER,usdt:$dir/sess" " $dir/session "
offers "opcontrol --budget=0" " 0.1% 0.5% "
offers "opcontrol --no-such-option-th" "  "
offers "opreport --session-dir=$dir/session session:mon" " monday "
offers "operf -e PAGE_FAULTS_M" " PAGE_FAULTS_MIN PAGE_FAULTS_MAJ "
offers "operf -p $$" "* $$ *"
offers "operf --pid=1,$$" "* 1,$$ *"
offers "operf --name=bas" "* bash *"
offers "operf --cgroup=/" "* /* *"
offers "operf -o $dir/sess" " $dir/session "
offers "opreport -m tg" " tgid "
offers "ophelp --cpu-type=i386/pi" " i386/pii i386/piii "
offers "opreport sess" "* session: *"
offers "opreport --session-dir=$dir/sess" " $dir/session "
offers "operf tru" "* true *"
offers "ocount --separate" " --separate-thread --separate-cpu "
offers "ocount --events=PAGE_FAULTS_M" " PAGE_FAULTS_MIN PAGE_FAULTS_MAJ "
offers "ocount tru" "* true *"
offers "ophelp --check-events=PAGE_FAULTS_M" " PAGE_FAULTS_MIN PAGE_FAULTS_MAJ "
offers "ophelp PAGE_FAULTS_M" " PAGE_FAULTS_MIN PAGE_FAULTS_MAJ "

echo "1..$tests"
[ "$failures" = 0 ]
