/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/unwinder.h"

#include "base/mem.h"
#include "driver/perf/code_memory.h"
#include "identity/cookie_identify.h"
#include "driver/driver.h"
#include "elf/elffile.h"
#include "parser/parser.h"
#include "unwind/unwind_chain.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>

struct unwinder {
	const struct cookie_table *cookies;
	const char *root;
	struct unwind_cache *cache;
	struct code_memory *code;
	void *vdso; /* a copy, because libelf needs it writable; NULL: not needed yet */
};

/* One unwinding. */
struct walk {
	struct unwinder *u;
	const struct process *process;
	struct user_stack *stack;
	/* The mapping of the last frame, which often contains this one, too. */
	const struct mapping *mapping;
	const struct unwind_table *table;
};

/* Where to look for the requested image. */
struct opening {
	struct unwinder *u;
	const struct cookie_mapped *where;
};

struct unwinder *unwinder_new(const struct cookie_table *cookies, const char *root, size_t budget)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->cookies = cookies;
	u->root = root;
	u->cache = unwind_cache_new(budget ?: DRIVER_UNWIND_DEFAULT);
	u->code = code_memory_new(root, cookies);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	unwind_cache_free(u->cache);
	code_memory_free(u->code);
	free(u->vdso);
	free(u);
}

/* The bytes of this process's vdso that are mapped, which all processes share. */
static size_t vdso_bytes(const Elf64_Ehdr *header)
{
	const Elf64_Phdr *ph = (const void *)((const char *)header + header->e_phoff);
	size_t i, end = 0;

	for (i = 0; i < header->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			end = MAX(end, (size_t)(ph[i].p_offset + ph[i].p_filesz));
	return end;
}

/* Builds the table of the vdso, which comes from the kernel and needs no sandbox. */
static int build_vdso(struct unwinder *u, struct unwind_rules *rules, struct unwind_table **ret)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	const Elf64_Ehdr *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int r;

	if (!header)
		return -ENOENT;
	size = vdso_bytes(header);
	if (!u->vdso)
		u->vdso = xmemdup(header, size);
	r = elffile_open_memory(u->vdso, size, "[vdso]", &ef, NULL);
	return r < 0 ? r : unwind_table_build(ef, rules, ret, NULL);
}

/* An unwind_cache_build. */
static int build_table(void *data, uint64_t cookie, struct unwind_rules *rules,
		       struct unwind_table **ret)
{
	const struct opening *o = data;
	const struct cookie_image *image = cookie_lookup(o->u->cookies, cookie);
	_cleanup_close_ int fd = -1;
	int r;

	if (!image)
		return -ENOENT;
	if (image->kind == COOKIE_VDSO)
		return build_vdso(o->u, rules, ret);
	if (image->kind != COOKIE_FILE)
		return -ENOENT;
	fd = cookie_open_file(image, o->where);
	if (fd < 0)
		return fd;
	r = parser_table(cookie_parser(o->u->cookies), fd, rules, ret, NULL);
	return r == -ENOENT ? -ENODATA : r;
}

/* Finds the table of the image @cookie, building it if necessary from the file mapped at @where.
 * Returns CHAIN_GOES_ON, or why there is no table. *@ret is borrowed until the next call. */
static enum chain_end find_table(struct unwinder *u, uint64_t cookie,
				 const struct cookie_mapped *where, const struct unwind_table **ret)
{
	struct opening opening = { u, where };

	return unwind_cache_find(u->cache, cookie, build_table, &opening, ret);
}

static enum chain_end find(void *data, uint64_t address, const struct unwind_table **ret,
			   uint64_t *ret_pc)
{
	struct walk *w = data;
	const struct mapping *m = w->mapping;
	enum chain_end stop;

	if (!m || address < m->start || address >= m->end) {
		m = w->process->maps ? maps_find(w->process->maps, address) : NULL;
		if (!m)
			return CHAIN_END_NO_MAPPING;
		/* Generated code. */
		if (!m->cookie)
			return CHAIN_END_NO_RULE;
		stop = find_table(w->u, m->cookie,
				  &(struct cookie_mapped){ w->u->root, w->process->tgid, m->start,
							   m->end },
				  &w->table);
		if (stop != CHAIN_GOES_ON)
			return stop;
		w->mapping = m;
	}
	*ret = w->table;
	return unwind_table_pc(w->table, address - m->start + m->offset, ret_pc)
		       ? CHAIN_GOES_ON
		       : CHAIN_END_NO_RULE;
}

static int read_stack(void *data, __u64 address, __u64 *ret)
{
	return user_stack_read(((struct walk *)data)->stack, address, ret);
}

static int read_code(void *data, __u64 address, __u64 *ret)
{
	const struct walk *w = data;
	uint64_t bytes;

	if (code_memory_read(w->u->code, w->process->tgid, address, &bytes) < 0)
		return CHAIN_END_UNREADABLE;
	*ret = bytes;
	return CHAIN_GOES_ON;
}

static int tell_register(void *data, __u32 reg, __u64 *ret)
{
	return user_stack_reg(((struct walk *)data)->stack, reg, ret);
}

enum chain_end unwinder_chain(struct unwinder *u, const struct process *process,
			      struct user_stack *stack, uint64_t *pcs, size_t max,
			      size_t *ret_count)
{
	struct walk walk = { .u = u, .process = process, .stack = stack };
	const struct unwind_from from = {
		.machine = stack->machine,
		.rules = unwind_cache_rules(u->cache),
		.find = find,
		.read = read_stack,
		.code = read_code,
		.reg = tell_register,
		.data = &walk,
	};
	struct unwind_frame frame;

	user_stack_frame(stack, &frame);
	return unwind_chain(&frame, &from, pcs, max, ret_count);
}

void unwinder_round(struct unwinder *u)
{
	unwind_cache_round(u->cache);
	code_memory_round(u->code);
}

const struct unwind_cache_stats *unwinder_stats(const struct unwinder *u)
{
	return unwind_cache_stats(u->cache);
}
