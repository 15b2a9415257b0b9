/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/internal/session_functions.h"

#include "base/map.h"
#include "base/mem.h"
#include "file/path.h"
#include "chains/chain_names.h"
#include "history/segment_tree.h"
#include "sfile/manifest.h"
#include "symbol/function_store.h"
#include "symbol/symtab.h"

#include <string.h>

/* A session of which tables are read. */
struct tables {
	char *directory;
	struct manifest *manifest; /* NULL: it cannot be read */
	struct map by_key;	   /* hash of FUNCTION_KEY to struct table */
	size_t left;		   /* bytes of memory for further tables: then they are unknown */
};

/* For all tables of a job. Anybody can have large ones kept, and the keeper's memory is limited. */
enum { TABLES_MAX = 128 << 20 };

struct table {
	char key[FUNCTION_KEY];
	struct symtab *symbols; /* NULL: there are none */
};

static void open_tables(const char *samples, struct segment_functions *f)
{
	struct tables *t = xcalloc(1, sizeof(*t));

	/* Below SESSION/samples/NAME. */
	t->directory = path_join(samples, "../../symbols");
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
	free(t->directory);
	free(t);
	f->data = NULL;
}

/* The image of a line of names; NULL: it is none, or not a file that the manifest has. */
static const struct manifest_image *image_of(const struct tables *t, const char *line)
{
	_cleanup_(chain_names_closep) struct chain_names *names = chain_names_new();
	_cleanup_free_ char *copy = xstrdup(line);
	uint32_t image, context;

	if (!t->manifest || chain_names_take(names, copy, &image, &context) < 0 || !image ||
	    chain_names_is_kernel(names, image) ||
	    chain_names_image_at(names, image)->kind != SNAME_ROOT)
		return NULL;
	return manifest_find(t->manifest, chain_names_image_at(names, image)->name);
}

static struct symtab *read_table(struct tables *t, const char *key, const char *name)
{
	uint64_t hash = hash_bytes(key, strlen(key));
	_cleanup_free_ char *path = NULL;
	struct table *table;
	size_t memory;

	map_for_each_of(&t->by_key, hash,
			table) if (!strcmp(table->key, key)) return table->symbols;
	table = xcalloc(1, sizeof(*table));
	memcpy(table->key, key, strlen(key) + 1);
	path = path_join(t->directory, key);
	memory = function_store_memory(path);
	if (memory <= t->left && function_store_read(path, name, &table->symbols, NULL) == 0)
		t->left -= memory;
	map_add(&t->by_key, hash, table);
	return table->symbols;
}

static const void *functions_of_line(void *data, const char *line)
{
	struct tables *t = data;
	const struct manifest_image *image = image_of(t, line);
	char key[FUNCTION_KEY];

	if (!image || !function_key(&image->file, &image->version, key))
		return NULL;
	return read_table(t, key, path_base(image->path));
}

static bool start_of(const void *functions, uint64_t key, uint64_t *ret)
{
	const struct symbol *piece = symtab_find(functions, key);

	if (!piece)
		return false;
	*ret = symtab_at(functions, piece->whole)->offset;
	return true;
}

static void open_functions(const char *samples, struct segment_functions *f)
{
	*f = (struct segment_functions){ .of_line = functions_of_line, .start = start_of };
	open_tables(samples, f);
}

const struct history_functions session_functions = { open_functions, close_tables };
