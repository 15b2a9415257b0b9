/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/session_functions.h"

#include "base/macro.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/path.h"
#include "history/history_kind.h"
#include "sfile/manifest.h"
#include "sfile/sname.h"
#include "sfile/source_image.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/kallsyms.h"
#include "symbol/symtab.h"

#include <string.h>

/* A session has samples of one more kernel after each update of it. The functions of further ones
 * are unknown. */
enum { KERNELS_MAX = 8 };

/* The symbols of a kernel that the session has samples of. */
struct kernel {
	char *mark;		  /* of its images: sname_build_mark() */
	struct kallsyms *symbols; /* NULL: they cannot be read */
};

/* A session of which tables are read. */
struct tables {
	char *directory;
	char *samples;
	struct manifest *manifest; /* NULL: it cannot be read */
	struct kernel kernels[KERNELS_MAX];
	size_t kernel_count;
	struct map by_key; /* hash of FUNCTION_KEY, or of a kernel image's name, to struct table */
	size_t left;	   /* bytes of memory for further tables: then they are unknown */
};

/* For all tables of a job. Anybody can have large ones kept, and the keeper's memory is limited. */
enum { TABLES_MAX = 128 << 20 };

/* The functions of a file, or of an image of the kernel. */
struct table {
	char key[FUNCTION_KEY];
	struct symtab *symbols;		     /* of a file; NULL: there are none */
	const struct kallsyms_image *kernel; /* NULL: it is not of the kernel */
};

static void open_tables(const char *samples, struct segment_functions *f)
{
	struct tables *t = xcalloc(1, sizeof(*t));

	/* Below SESSION/samples/NAME. */
	t->directory = path_join(samples, "../../symbols");
	t->samples = xstrdup(samples);
	(void)manifest_open(samples, false, &t->manifest, NULL);
	t->left = TABLES_MAX;
	f->data = t;
}

static void close_tables(struct segment_functions *f)
{
	struct tables *t = f->data;

	map_for_each (&t->by_key, slot) {
		struct table *table = slot->value;

		symtab_free(table->symbols);
		free(table);
	}
	map_done(&t->by_key);
	manifest_close(t->manifest);
	while (t->kernel_count) {
		kallsyms_free(t->kernels[--t->kernel_count].symbols);
		free(t->kernels[t->kernel_count].mark);
	}
	free(t->samples);
	free(t->directory);
	free(t);
	f->data = NULL;
}

/* The table @key, which is a new one without functions if *@ret_is_new. */
static struct table *table_of(struct tables *t, const char *key, bool *ret_is_new)
{
	uint64_t hash = hash_bytes(key, strlen(key));
	struct table *table;

	*ret_is_new = false;
	map_for_each_of(&t->by_key, hash, table) if (!strcmp(table->key, key)) return table;
	table = xcalloc(1, sizeof(*table));
	memcpy(table->key, key, strlen(key) + 1);
	map_add(&t->by_key, hash, table);
	*ret_is_new = true;
	return table;
}

static const struct table *table_of_file(struct tables *t, const char *name)
{
	const struct manifest_image *image = t->manifest ? manifest_find(t->manifest, name) : NULL;
	_cleanup_free_ char *path = NULL;
	char key[FUNCTION_KEY];
	struct table *table;
	size_t memory;
	bool is_new;

	/* All source files in a language have one build-id, and their functions are elsewhere. */
	if (!image || source_image_is(image) || !function_key(&image->file, &image->version, key))
		return NULL;
	table = table_of(t, key, &is_new);
	if (is_new) {
		path = path_join(t->directory, key);
		memory = function_file_memory(path);
		if (memory <= t->left &&
		    function_file_read(path, path_base(image->path), &table->symbols, NULL) == 0)
			t->left -= memory;
	}
	return table->symbols ? table : NULL;
}

/* The symbols of the kernel whose images have a mark; NULL: they are unknown. */
static const struct kallsyms *symbols_of(struct tables *t, const char *mark)
{
	_cleanup_free_ char *name = NULL, *path = NULL;
	struct kernel *k;
	size_t i;

	for (i = 0; i < t->kernel_count; i++)
		if (!strcmp(t->kernels[i].mark, mark))
			return t->kernels[i].symbols;
	if (t->kernel_count == KERNELS_MAX)
		return NULL;
	k = &t->kernels[t->kernel_count++];
	k->mark = xstrdup(mark);
	name = xasprintf("kallsyms%s", mark);
	path = path_join(t->samples, name);
	(void)kallsyms_load(path, &k->symbols, NULL);
	return k->symbols;
}

/* The functions of a kernel, or of a module, that the session has symbols of. */
static const struct table *table_of_kernel(struct tables *t, const struct sname_image *image)
{
	const char *mark = sname_build_mark(image->name);
	_cleanup_free_ char *plain = xstrndup(image->name, strlen(image->name) - strlen(mark));
	const bool is_module = image->kind == SNAME_KERN;
	const struct kallsyms *symbols;
	struct table *table;
	bool is_new;

	if ((!is_module && strcmp(plain, "/proc/kallsyms") != 0) ||
	    strlen(image->name) >= FUNCTION_KEY)
		return NULL;
	table = table_of(t, image->name, &is_new);
	symbols = is_new ? symbols_of(t, mark) : NULL;
	if (symbols)
		table->kernel = kallsyms_image(symbols, is_module ? plain : "");
	return table->kernel ? table : NULL;
}

static const void *find_table(void *data, const struct sname_image *image, bool is_kernel)
{
	if (is_kernel)
		return table_of_kernel(data, image);
	return image->kind == SNAME_ROOT ? table_of_file(data, image->name) : NULL;
}

static const void *functions_of_line(const struct segment_functions *f, const char *line)
{
	return f->kind->image(line, find_table, f->data);
}

/* The symbol of the kernel that @address is in; NULL: none. */
static const struct kallsyms_symbol *find_in_kernel(const struct kallsyms_image *k,
						    uint64_t address)
{
	size_t after = FIRST_NOT(i, 0, k->count, k->symbols[i].address <= address);

	return after && (!k->end || address < k->end) ? &k->symbols[after - 1] : NULL;
}

static bool start_of(const void *functions, uint64_t key, uint64_t *ret)
{
	const struct table *t = functions;
	const struct kallsyms_symbol *function =
		t->kernel ? find_in_kernel(t->kernel, t->kernel->start + key) : NULL;
	const struct symbol *piece = t->symbols ? symtab_find(t->symbols, key) : NULL;

	if (function)
		*ret = function->address - t->kernel->start;
	if (piece)
		*ret = symtab_at(t->symbols, piece->whole)->offset;
	return function || piece;
}

static void open_functions(const char *samples, struct segment_functions *f)
{
	*f = (struct segment_functions){ .of_line = functions_of_line, .start = start_of };
	open_tables(samples, f);
}

const struct history_functions session_functions = { open_functions, close_tables };
