/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oprofilefs/nodes.h"

#include "base/mem.h"
#include "base/parse.h"
#include "oprofilefs/internal/node_table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* Whether @path matches @pattern; fills in what the pattern leaves open. */
static bool matches(const char *pattern, const char *path, struct place *ret)
{
	size_t length;

	for (; *pattern; pattern++) {
		if (*pattern == '#') {
			/* A number has one spelling: no leading zeros. */
			if ((*path == '0' && path[1] >= '0' && path[1] <= '9') ||
			    parse_dec(&path, &ret->number) < 0)
				return false;
		} else if (*pattern == '$') {
			length = strcspn(path, "/");
			if (!length || length >= sizeof(ret->name))
				return false;
			memcpy(ret->name, path, length);
			ret->name[length] = '\0';
			path += length;
		} else if (*path++ != *pattern) {
			return false;
		}
	}
	return !*path;
}

static int find(const struct nodes *n, const char *path, struct place *ret, struct error *err)
{
	size_t i;

	path += *path == '/';
	for (i = 0; i < node_count; i++) {
		*ret = (struct place){ .node = &node_table[i] };
		if (matches(node_table[i].pattern, path, ret) &&
		    (!node_table[i].exists || node_table[i].exists(n, ret)))
			return 0;
	}
	return error_set(err, -ENOENT, "no node '%s'", path);
}

/* Whether the node is directly in the directory @pattern. */
static bool is_in(const struct node *node, const char *pattern)
{
	size_t length = strlen(pattern);
	const char *rest = node->pattern + length;

	if (node->pattern[0] == '\0' || strncmp(node->pattern, pattern, length) != 0)
		return false;
	if (length && *rest++ != '/')
		return false;
	return *rest && !strchr(rest, '/');
}

/* What list_part() needs to know. */
struct listing {
	const struct node *node;
	nodes_item *item;
	void *data;
};

static void list_part(const char *part, void *data)
{
	const struct listing *listing = data;

	listing->item(part, listing->node->mode, listing->node->help, listing->data);
}

/* --- for transports --- */

int nodes_stat(const struct nodes *n, const char *path, mode_t *ret, struct error *err)
{
	struct place at;
	int r = find(n, path, &at, err);

	if (r == 0)
		*ret = at.node->mode;
	return r;
}

int nodes_list(const struct nodes *n, const char *path, nodes_item *item, void *data,
	       struct error *err)
{
	struct listing listing = { .item = item, .data = data };
	struct place in;
	int r = find(n, path, &in, err);
	size_t i;

	if (r < 0)
		return r;
	if (!S_ISDIR(in.node->mode))
		return error_set(err, -ENOTDIR, "%s is not a directory", path);
	for (i = 0; i < node_count; i++) {
		listing.node = &node_table[i];
		if (!is_in(listing.node, in.node->pattern))
			continue;
		if (listing.node->each)
			listing.node->each(n, &in, list_part, &listing);
		else if (!listing.node->exists || listing.node->exists(n, &in))
			list_part(strrchr(listing.node->pattern, '/')
					  ? strrchr(listing.node->pattern, '/') + 1
					  : listing.node->pattern,
				  &listing);
	}
	return 0;
}

int nodes_read(const struct nodes *n, const char *path, struct strbuf *text, struct error *err)
{
	struct place at;
	int r = find(n, path, &at, err);

	if (r < 0)
		return r;
	if (S_ISDIR(at.node->mode))
		return error_set(err, -EISDIR, "%s is a directory", path);
	if (at.node->offset != NO_SETTING) {
		strbuf_addf(text, "%" PRIu64 "\n", *node_setting((struct nodes *)n, &at));
		return 0;
	}
	if (!at.node->read)
		return error_set(err, -EINVAL, "%s is write-only", path);
	r = at.node->read(n, &at, text);
	return r < 0 ? error_errno(err, r, "%s", path) : 0;
}

int nodes_write(struct nodes *n, const char *path, const char *text, struct error *err)
{
	char value[NODE_NUMBER_ROOM] = "";
	size_t start = strspn(text, " \t\n"), length = strlen(text + start);
	struct place at;
	int r = find(n, path, &at, err);

	if (r < 0)
		return r;
	if (S_ISDIR(at.node->mode))
		return error_set(err, -EISDIR, "%s is a directory", path);
	if (!at.node->write)
		return error_set(err, -EACCES, "%s is read-only", path);
	while (length && strchr(" \t\n", text[start + length - 1]))
		length--;
	if (length >= sizeof(value))
		return error_set(err, -EINVAL, "%s: the value is too long", path);
	memcpy(value, text + start, length);
	r = at.node->write(n, &at, value, err);
	return r < 0 ? error_prefix(err, "%s", path) : 0;
}

/* --- the tree --- */

struct nodes *nodes_new(const struct node_settings *settings, const struct nodes_host *host,
			void *data)
{
	struct nodes *n = xcalloc(1, sizeof(*n));

	*n = (struct nodes){ .settings = *settings, .host = host, .data = data };
	return n;
}

void nodes_free(struct nodes *n)
{
	free(n);
}

const struct node_settings *nodes_settings(const struct nodes *n)
{
	return &n->settings;
}

void nodes_show(struct nodes *n, const struct node_settings *settings)
{
	n->settings = *settings;
}

bool nodes_is_cookie(const char *path)
{
	size_t length = strlen(NODE_COOKIES);

	path += *path == '/';
	return !strncmp(path, NODE_COOKIES, length) && (!path[length] || path[length] == '/');
}

bool nodes_changed(const struct nodes *n)
{
	return n->changed;
}

void nodes_taken_over(struct nodes *n)
{
	n->changed = false;
}
