/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/sampled_names.h"

#include "base/keyed_hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* So many names, or bytes, more than the last sweep has left are swept. */
enum { MANY = 4096, MANY_BYTES = 1 << 20 };

struct sampled_name {
	uint32_t age; /* of the table when it was used last */
	char text[];
};

struct sampled_names {
	struct keyed_hash hash; /* others choose the names */
	struct map by_hash;
	size_t bytes;
	uint32_t age; /* number of sweeps */
	struct {
		size_t count, bytes;
	} left; /* by the last sweep */
};

static struct sampled_name *name_of(const char *text)
{
	return (struct sampled_name *)(text - offsetof(struct sampled_name, text));
}

static size_t size_of(const struct sampled_name *n)
{
	return sizeof(*n) + strlen(n->text) + 1;
}

struct sampled_names *sampled_names_new(void)
{
	struct sampled_names *t = xcalloc(1, sizeof(*t));

	t->hash = keyed_hash_new();
	return t;
}

void sampled_names_forget(struct sampled_names *t)
{
	map_for_each (&t->by_hash, slot)
		free(slot->value);
	map_done(&t->by_hash);
	t->bytes = t->left.count = t->left.bytes = 0;
}

void sampled_names_free(struct sampled_names *t)
{
	if (!t)
		return;
	sampled_names_forget(t);
	free(t);
}

static struct sampled_name *find(const struct sampled_names *t, const char *name, uint64_t hash)
{
	struct sampled_name *n;

	map_for_each_of(&t->by_hash, hash, n) if (!strcmp(n->text, name)) return n;
	return NULL;
}

bool sampled_names_has(const struct sampled_names *t, const char *name)
{
	return find(t, name, keyed_hash_of(&t->hash, name, strlen(name))) != NULL;
}

const char *sampled_names_get(struct sampled_names *t, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	struct sampled_name *n;
	uint64_t hash;

	if (!name)
		return NULL;
	hash = keyed_hash_of(&t->hash, name, length);
	n = find(t, name, hash);
	if (!n) {
		n = xmalloc(sizeof(*n) + length + 1);
		memcpy(n->text, name, length + 1);
		map_add(&t->by_hash, hash, n);
		t->bytes += size_of(n);
	}
	n->age = t->age;
	return n->text;
}

bool sampled_names_are_many(const struct sampled_names *t)
{
	return t->by_hash.count > t->left.count + MANY || t->bytes > t->left.bytes + MANY_BYTES;
}

bool sampled_names_is_old(const struct sampled_names *t, const char *name)
{
	return name && name_of(name)->age != t->age;
}

void sampled_names_use(struct sampled_names *t, const char *name)
{
	if (name)
		name_of(name)->age = t->age;
}

size_t sampled_names_sweep(struct sampled_names *t)
{
	struct map all = t->by_hash;
	size_t count = all.count;

	t->by_hash = MAP_INIT;
	map_for_each (&all, slot) {
		struct sampled_name *n = slot->value;

		if (n->age == t->age) {
			map_add(&t->by_hash, slot->key, n);
			continue;
		}
		t->bytes -= size_of(n);
		free(n);
	}
	t->left.count = t->by_hash.count;
	t->left.bytes = t->bytes;
	t->age++;
	map_done(&all);
	return count - t->left.count;
}

size_t sampled_names_count(const struct sampled_names *t)
{
	return t->by_hash.count;
}
