/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perfdata/internal/perf_machine.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "elf/elf_build_id.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"
#include "perfdata/internal/perf_images.h"
#include "perfdata/perf_file.h"
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

/* What perf calls the mapping of the kernel, followed by a symbol whose address was the offset. */
static const char kernel_name[] = "[kernel.kallsyms]";

/* The name of a module from that of its mapping, a path or "[NAME]", with the dashes of file names
 * as underscores; caller frees. */
static char *module_name(const char *path)
{
	const char *base = path_base(path), *end;
	char *name, *dash;

	if (*base == '[')
		return xstrndup(base + 1, strcspn(base + 1, "]"));
	end = strstr(base, ".ko");
	name = end ? xstrndup(base, (size_t)(end - base)) : xstrdup(base);
	while ((dash = strchr(name, '-')))
		*dash = '_';
	return name;
}

struct kernel_maps {
	struct perf_file_map self; /* without a path: unknown */
	struct strbuf modules;	   /* as in /proc/modules */
};

/* Finds the mappings of the kernel and its modules. */
static void find_maps(const struct perf_file *file, struct kernel_maps *ret)
{
	struct perf_file_record record;
	struct perf_file_map map;
	size_t i;

	for (i = 0; perf_file_record(file, i, &record); i++) {
		_cleanup_free_ char *name = NULL;

		if ((record.type != PERF_RECORD_MMAP && record.type != PERF_RECORD_MMAP2) ||
		    (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL ||
		    perf_file_map(&record, &map) < 0)
			continue;
		if (!strncmp(map.path, kernel_name, sizeof(kernel_name) - 1)) {
			ret->self = map;
			continue;
		}
		name = module_name(map.path);
		if (*name && !strpbrk(name, " \t\n"))
			strbuf_addf(&ret->modules, "%s %" PRIu64 " 0 - Live 0x%" PRIx64 "\n", name,
				    map.end - map.start, map.start);
	}
}

/* Calls @each for the lines of a kallsyms; false if the file cannot be opened. */
static bool each_symbol(const char *path,
			void (*each)(const struct kallsyms_line *line, void *data), void *data)
{
	_cleanup_close_ int fd = open_regular(path, O_RDONLY);
	_cleanup_(cleanup_fclosep) FILE *f = NULL;
	_cleanup_free_ char *text = NULL;
	struct kallsyms_line line;
	size_t room = 0;

	if (fd < 0)
		return false;
	f = xfdopen(STEAL_FD(fd), "r");
	while (f && xgetline(&text, &room, f) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (kallsyms_line_parse(text, &line) == 0)
			each(&line, data);
	}
	return f;
}

struct reference {
	const char *symbol;
	uint64_t address;
};

static void find_reference(const struct kallsyms_line *line, void *data)
{
	struct reference *r = data;

	if (!r->address && !*line->module && !strcmp(line->name, r->symbol))
		r->address = line->address;
}

struct copy {
	struct strbuf text;
	uint64_t shift; /* of the kernel between that boot and the list's */
};

/* Keeps code: of modules only if the list is of the same boot, of BPF programs none, because their
 * addresses are used again. */
static void copy_symbol(const struct kallsyms_line *line, void *data)
{
	struct copy *c = data;

	if (!strchr("tTwW", line->type) || !strcmp(line->module, "bpf") ||
	    !strncmp(line->module, "__builtin", 9) || (*line->module && c->shift))
		return;
	strbuf_addf(&c->text, "%016" PRIx64 " %c %s", line->address + c->shift, line->type,
		    line->name);
	if (*line->module)
		strbuf_addf(&c->text, "\t[%s]", line->module);
	strbuf_adds(&c->text, "\n");
}

/* Takes the symbols from the list @path; false if it does not fit. */
static bool copy_symbols(const char *path, const struct perf_file_map *self, struct copy *ret)
{
	struct reference reference = { self->path + sizeof(kernel_name) - 1, 0 };

	if (!each_symbol(path, find_reference, &reference) || !reference.address)
		return false;
	ret->shift = self->offset - reference.address;
	return each_symbol(path, copy_symbol, ret) && ret->text.length;
}

/* Writes a file as root, if owner_become() left a way back: the owner of the perf.data must not be
 * able to put anything else in its place. */
static int put(const char *root, const char *name, const char *text, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *path = path_join(root, name);
	int r = path_make_parents(path, 0700, err);

	return r < 0 ? r : path_write(path, text, 0600, err);
}

/* Writes the note with the kernel's build-id, as in /sys/kernel/notes: three sizes, "GNU", the id.
 */
enum { NOTE_HEAD = 16 };

static int put_notes(const char *root, const struct build_id *id, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *path = path_join(root, "sys/kernel/notes");
	_cleanup_close_ int fd = -1;
	uint8_t note[NOTE_HEAD + BUILD_ID_MAX] = { 0 };
	const uint32_t head[] = { 4, id->size, 3 /* NT_GNU_BUILD_ID */ };
	int r = path_make_parents(path, 0700, err);

	if (r < 0)
		return r;
	memcpy(note, head, sizeof(head));
	memcpy(note + sizeof(head), "GNU", 4);
	memcpy(note + NOTE_HEAD, id->bytes, id->size);
	fd = open_regular_new(path, O_WRONLY, 0600);
	if (fd < 0 || write(fd, note, sizeof(note)) != sizeof(note))
		return error_errno(err, fd < 0 ? fd : -EIO, "cannot write %s", path);
	return 0;
}

/* Whether the first line of the file @path is @text. */
static bool is_line(const char *path, const char *text)
{
	_cleanup_free_ char *line = NULL;

	if (!text || path_read("", path, &line, NULL) < 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return !strcmp(line, text);
}

/* Finds out which kernel it is, and whether this machine runs it. Without a build-id (a pipe, or
 * perf record -z) it is this one if the machine's name and the release are; then *@ret has the
 * build-id of this one. */
static bool is_own_kernel(const struct perf_file *file, struct build_id *ret)
{
	const struct perf_file_machine *m = perf_file_machine(file);
	const struct build_id *id = perf_images_build_id(file, kernel_name);
	struct build_id own = { 0 };

	*ret = id ? *id : (struct build_id){ 0 };
	if (elf_build_id_read_kernel("", &own) < 0)
		return false;
	if (id)
		return build_id_equal(&own, id);
	if (!is_line("/proc/sys/kernel/osrelease", m->release) ||
	    !is_line("/proc/sys/kernel/hostname", m->hostname))
		return false;
	*ret = own;
	return true;
}

static int put_kernel(const struct perf_file *file, const char *cache, const char *root,
		      struct perf_machine_kernel *ret, struct error *err)
{
	_cleanup_free_ char *cached = NULL;
	struct kernel_maps maps = { .self = { .path = NULL } };
	char text[BUILD_ID_TEXT];
	struct build_id id;
	struct copy copy = { .shift = 0 };
	int r = 0;

	find_maps(file, &maps);
	ret->is_own = is_own_kernel(file, &id);
	if (id.size && cache)
		cached = xasprintf("%s/%s/%s/kallsyms", cache, kernel_name,
				   build_id_text(&id, text));
	if (id.size && maps.self.path)
		ret->has_symbols =
			(cached && copy_symbols(cached, &maps.self, &copy)) ||
			(ret->is_own && copy_symbols("/proc/kallsyms", &maps.self, &copy));
	if (id.size)
		r = put_notes(root, &id, err);
	if (r == 0)
		r = put(root, "proc/modules", strbuf_text(&maps.modules), err);
	if (r == 0 && ret->has_symbols)
		r = put(root, "proc/kallsyms", strbuf_text(&copy.text), err);
	strbuf_done(&maps.modules);
	strbuf_done(&copy.text);
	return r;
}

/* What says which type of CPU it is: perf writes "vendor,family,model,stepping" on x86. */
static char *cpuinfo(const struct perf_file_machine *m)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model" };
	_cleanup_free_ char *words = xstrdup(m->cpu_id ?: "");
	struct strbuf text = STRBUF_INIT;
	char *rest = words, *word;
	size_t i;

	strbuf_adds(&text, "processor\t: 0\n");
	for (i = 0; i < ARRAY_SIZE(keys) && strchr(m->cpu_id ?: "", ','); i++) {
		word = strsep(&rest, ",");
		if (word)
			strbuf_addf(&text, "%s\t: %.*s\n", keys[i], (int)strcspn(word, "\n"), word);
	}
	if (m->cpu)
		strbuf_addf(&text, "model name\t: %.*s\n", (int)strcspn(m->cpu, "\n"), m->cpu);
	return strbuf_take(&text);
}

int perf_machine_write(const struct perf_file *file, const char *cache, const char *root,
		       struct perf_machine_kernel *ret, struct error *err)
{
	const struct perf_file_machine *m = perf_file_machine(file);
	_cleanup_free_ char *cpu = cpuinfo(m);
	int r = put_kernel(file, cache, root, ret, err);

	if (r == 0)
		r = put(root, "proc/cpuinfo", cpu, err);
	if (r == 0 && m->release)
		r = put(root, "proc/sys/kernel/osrelease", m->release, err);
	if (r == 0 && m->hostname)
		r = put(root, "proc/sys/kernel/hostname", m->hostname, err);
	return r;
}
