/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "differ_libdw.h"

#include "base/mem.h"
#include "elf/elffile.h"

#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct libdw {
	const struct cookie_table *cookies;
	pid_t pid;
	Dwfl *dwfl;
	struct user_stack *stack; /* being unwound, as the next three */
	uint64_t *pcs;
	size_t max, count;
};

static pid_t next_thread(Dwfl *dwfl, void *data, void **state)
{
	struct libdw *l = data;

	(void)dwfl;
	if (*state)
		return 0;
	*state = data;
	return l->pid;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *data)
{
	struct libdw *l = data;
	__u64 value;

	(void)dwfl;
	if (user_stack_read(l->stack, address, &value) != CHAIN_GOES_ON)
		return false;
	*ret = value;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *data)
{
	struct libdw *l = data;
	Dwarf_Word words[USER_STACK_REGS_MAX];
	struct unwind_frame frame;
	size_t i;

	for (i = 0; i < l->stack->reg_count; i++)
		words[i] = l->stack->regs[i];
	/* The PC is last. Ours is that of a system call, the kernel's where it goes on after it. */
	user_stack_frame(l->stack, &frame);
	words[l->stack->reg_count - 1] = frame.pc;
	return dwfl_thread_state_registers(thread, 0, (unsigned int)l->stack->reg_count, words);
}

static int no_elf(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static int no_debug(Dwfl_Module *m, void **user, const char *name, Dwarf_Addr base,
		    const char *file, const char *link, GElf_Word crc, char **ret)
{
	(void)m, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)ret;
	return -1;
}

static const Dwfl_Thread_Callbacks thread_calls = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static const Dwfl_Callbacks dwfl_calls = {
	.find_elf = no_elf,
	.find_debuginfo = no_debug,
	.section_address = dwfl_offline_section_address,
};

/* Where the file mapped as @m is loaded: what is added to its linked addresses. */
static bool load_bias(const char *path, const struct mapping *m, uint64_t *ret)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t i, count = 0;
	GElf_Phdr ph;

	if (elffile_open(path, &ef, NULL) < 0 || elf_getphdrnum(elffile_elf(ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elffile_elf(ef), (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || (ph.p_offset & -page) > m->offset ||
		    ph.p_offset + ph.p_filesz <= m->offset)
			continue;
		*ret = m->start - m->offset + ph.p_offset - ph.p_vaddr;
		return true;
	}
	return false;
}

/* The vdso as a file, which libdw wants; its descriptor. */
static int vdso_file(void)
{
	const char *bytes = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	/* Two pages, the kernel's padding included. */
	if (fd < 0 || !bytes || write(fd, bytes, 8192) != 8192)
		return -1;
	return fd;
}

struct libdw *libdw_new(const struct cookie_table *cookies, pid_t pid)
{
	struct libdw *l = xcalloc(1, sizeof(*l));

	l->cookies = cookies;
	l->pid = pid;
	return l;
}

void libdw_free(struct libdw *l)
{
	if (!l)
		return;
	if (l->dwfl)
		dwfl_end(l->dwfl);
	free(l);
}

void libdw_map(struct libdw *l, const struct maps *maps)
{
	const struct mapping *m;

	if (l->dwfl)
		dwfl_end(l->dwfl);
	l->dwfl = dwfl_begin(&dwfl_calls);
	for (m = maps ? maps_next(maps, 0) : NULL; m; m = maps_next(maps, m->end)) {
		const struct cookie_image *image = cookie_lookup(l->cookies, m->cookie);
		uint64_t bias;

		if (image && image->kind == COOKIE_FILE && load_bias(image->path, m, &bias))
			dwfl_report_elf(l->dwfl, image->path, image->path, -1, bias, false);
		else if (image && image->kind == COOKIE_VDSO)
			dwfl_report_elf(l->dwfl, "[vdso]", "[vdso]", vdso_file(), m->start, false);
	}
	(void)dwfl_report_end(l->dwfl, NULL, NULL);
	if (!dwfl_attach_state(l->dwfl, NULL, l->pid, &thread_calls, l))
		(void)fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
}

static int take_frame(Dwfl_Frame *frame, void *data)
{
	struct libdw *l = data;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || l->count == l->max)
		return DWARF_CB_ABORT;
	/* As in our chains: where nothing was called, the address is one more than the PC. */
	l->pcs[l->count] = pc + (l->count && exact);
	l->count++;
	return DWARF_CB_OK;
}

size_t libdw_chain(struct libdw *l, struct user_stack *stack, uint64_t *pcs, size_t max)
{
	l->stack = stack;
	l->pcs = pcs;
	l->max = max;
	l->count = 0;
	(void)dwfl_getthread_frames(l->dwfl, l->pid, take_frame, l);
	/* It writes the zero that ends a chain as one more frame, and goes on from unwritten words.
	 */
	while (l->count > 1 && !l->pcs[l->count - 1])
		l->count--;
	return l->count;
}
