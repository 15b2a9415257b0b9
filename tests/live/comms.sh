#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples are separated by the names of threads: of threads that name themselves, of programs, of
# children that are forked, and of code that is generated. OP_DRIVER selects the driver.
. "$OP_SOURCE_ROOT/tests/live/truth.sh"
need_sampling
cd "$dir" || exit 1

cat >named.c <<'END'
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
static void *work(void *name)
{
	struct timespec now;
	volatile long n = 0;

	prctl(PR_SET_NAME, name);
	do {
		for (int i = 0; i < 100000; i++)
			n += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec * 10 + now.tv_nsec / 100000000 < 5);
	return NULL;
}
int main(void)
{
	static char *const names[] = { "hot/1", "cold", "hot/1" };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
cc -O1 -pthread -o named named.c || skip_all "no C compiler"
rate=997

# count_of [SPECIFICATION]: the number of samples
count_of()
{
	opreport --session-dir=s -l -n --merge=all "$@" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

ok "a profile by name" operf --driver="$OP_DRIVER" -d s --rate=$rate --separate-comm --callgraph sh -c './named; truth_jit 0.3'
all=$(count_of) hot=$(count_of comm:hot_1) cold=$(count_of comm:cold)
echo "# $all samples, $hot of hot/1, $cold of cold"
ok "  threads that name themselves have samples" test "$hot" -gt 100 -a "$cold" -gt 50
# Two threads to one, each for the same time: five standard errors.
ok "  in the ratio of their times" awk -v a="$hot" -v b="$cold" \
	'BEGIN { d = a - 2 * b; exit !(d * d < 25 * (a + 4 * b) + (a + b)) }'
ok "  a program has its name" test "$(count_of comm:truth_jit)" -gt 20
is "  every sample has one" "$(count_of 'comm:*')" "$all"
ok "  chains have them, too" sh -c 'opreport --session-dir=s --folded comm:cold | grep -q "work "'
fails "  but not those of others" 1 sh -c 'opreport --session-dir=s --folded comm:truth_jit | grep "work "'
ok "a profile by name and cgroup" operf --driver="$OP_DRIVER" -d both --rate=$rate --separate-comm \
	--separate-cgroup ./named
ok "  has the names below the cgroups" sh -c \
	'find both/samples/current -path "*/{cgroup}/*{comm}/hot_1/{root}*" -name "TIMER.*" | grep -q .'
ok "a profile by thread" operf --driver="$OP_DRIVER" -d t --rate=$rate --separate-thread ./named
opreport --session-dir=t >threads
sed 's/^/# /' threads
is "  has the names of threads" "$(sed -n 's/^Thread [0-9]*, //p' threads | grep -v named | sort | xargs)" \
	"cold hot_1 hot_1"
done_testing
