/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that looks like Ruby's interpreter: the symbols that are searched for, its version, and
 * what its functions refer to. */
#include <stdint.h>

extern __thread void *ruby_current_ec;
extern const char ruby_version[];
int rb_vm_exec(int);
uint64_t rb_id2str(uint32_t);
int rb_last(int);

__thread void *ruby_current_ec;
const char ruby_version[] = "3.1.2";

/* The table of Symbols: the last one, and its third word. */
static struct {
	uint32_t last;
	uint64_t strings, names;
} table = { 12, 0, 0 };

/* Far longer than others, as vm_exec_core. */
static __attribute__((noinline)) int core(int n)
{
	__asm__ volatile(".rept 10000; nop; .endr" : "+r"(n));
	return n;
}

int rb_vm_exec(int n)
{
	ruby_current_ec = &table;
	return core(n) + core(n + 1);
}

static __attribute__((noinline)) uint64_t name_of(uint32_t id)
{
	__asm__ volatile("" : "+r"(id));
	return id < table.last ? table.names + id : 0;
}

uint64_t rb_id2str(uint32_t id)
{
	return name_of(id >> 4);
}

/* The end of a function is where the next one begins, so name_of() must not be the last one. */
int rb_last(int n)
{
	return n + 1;
}
