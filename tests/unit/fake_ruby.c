/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that looks like Ruby's interpreter: the symbols that are searched for, its version, and
 * what its functions refer to. */
#include <stdint.h>

extern const char ruby_version[];
int rb_vm_exec(int);
int rb_yield(int);
void *rb_current_receiver(void);
uint64_t rb_id2str(uint32_t);
int rb_last(int);

static __thread void *volatile before, *volatile current;
extern __thread void *volatile ruby_current_ec __attribute__((alias("current")));
const char ruby_version[] = "3.1.2";

/* The table of Symbols: the last one, and its third word. */
static struct {
	uint32_t last;
	uint64_t strings, names;
} table = { 12, 0, 0 };

/* Far longer than others, and with more jumps by a register, as vm_exec_core. */
static __attribute__((noinline)) int core(int n)
{
	__asm__ volatile("jmp 1f; .rept 128; .byte 0xff, 0xe0; .endr; 1: .rept 10000; nop; .endr"
			 : "+r"(n));
	return n;
}

static __attribute__((noinline)) int run(int n)
{
	before = current = &table;
	return core(n) + core(n + 1);
}

int rb_vm_exec(int n) __attribute__((alias("run")));

static __attribute__((noinline)) int yield(int n)
{
	return run(n) + 1;
}

int rb_yield(int n)
{
	return yield(n) + 1;
}

void *rb_current_receiver(void)
{
	return current;
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

/* The end of a function is where the next one begins, so there is one after all others, in whatever
 * order the compiler has those. */
__attribute__((section(".text.last"))) int rb_last(int n)
{
	return n + 1;
}
