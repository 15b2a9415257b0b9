/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that looks like PHP's interpreter: the symbols that are searched for, and its version. */
#include <stdint.h>

extern uint64_t executor_globals[1800 / 8];
extern const char header[];
int execute_ex(int);

const char header[] = "X-Powered-By: PHP/8.2.36";
uint64_t executor_globals[1800 / 8] = { 1 };

int execute_ex(int n)
{
	return n + 1;
}
