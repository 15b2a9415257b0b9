/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/internal/keep_functions.h"

#include "base/clock.h"
#include "base/mem.h"
#include "identity/cookie_identify.h"
#include "identity/internal/functions_ahead.h"
#include "identity/opener.h"
#include "parser/parser.h"
#include "symbol/function_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Of a file that is read before it is known whether it is sampled. */
enum { AHEAD_FILE_MAX = 32 << 20 };

/* Whether the functions of @image are to be kept, and are not yet. */
static bool is_wanted(struct function_store *store, const struct cookie_image *image,
		      char key[FUNCTION_KEY])
{
	return image->verified && function_key(&image->file, &image->version, key) &&
	       function_store_wants(store, key, !image->sampled);
}

/* Notes how the attempt @r to read them ended. */
static void settle(struct function_store *store, const char *key, int r,
		   const struct function_table *table)
{
	if (r == 0)
		function_store_put(store, key, table);
	else if (r != -ENOENT && r != -EDQUOT && r != -EHOSTDOWN && r != -ECANCELED)
		function_store_lacks(store, key);
}

/* Identifies @image, unless that was done. */
static void identify(const struct keep_now *by, struct cookie_image *image,
		     const struct cookie_mapped *where)
{
	/* The answer to opener_identify(), in another thread, may not have come yet. */
	image->host = NULL;
	if (!image->verified)
		(void)opener_version(by->opener, image, where);
	free(image->host);
	image->host = NULL;
}

/* Whether @image, as far as it is identified, is in the version that @key is of. */
static bool is_version(const struct cookie_image *image, const char *key)
{
	char own[FUNCTION_KEY];

	return !image->verified ||
	       (function_key(&image->file, &image->version, own) && !strcmp(own, key));
}

bool keep_functions_now(const struct keep_now *by, const struct cookie_image *image,
			const struct cookie_mapped *where, bool may_wait)
{
	const struct function_table *ahead;
	struct cookie_image known = *image;
	_cleanup_free_ void *bytes = NULL;
	struct function_table table = { 0 };
	char key[FUNCTION_KEY];

	ahead = functions_ahead_find(by->ahead, image->cookie, key);
	if (ahead && is_version(image, key)) {
		if (function_store_wants(by->store, key, !image->sampled))
			function_store_put(by->store, key, ahead);
		return false;
	}
	identify(by, &known, where);
	if (!is_wanted(by->store, &known, key))
		return false;
	if (may_wait && known.settled)
		return true;
	settle(by->store, key, opener_functions(by->opener, &known, where, &table, &bytes), &table);
	return false;
}

void keep_functions_ahead(const struct keep_now *by, const struct cookie_image *image,
			  const struct cookie_mapped *where)
{
	struct cookie_image known = *image;
	struct function_table table = { 0 };
	_cleanup_free_ void *bytes = NULL;
	char key[FUNCTION_KEY];

	identify(by, &known, where);
	/* The store is not asked: that would note that what it has is in use. */
	if (!known.verified || known.settled || known.version.size > AHEAD_FILE_MAX ||
	    !function_key(&known.file, &known.version, key))
		return;
	if (opener_functions(by->opener, &known, where, &table, &bytes) == 0)
		functions_ahead_put(by->ahead, image->cookie, key, &bytes, &table);
}

/* Reads the first file. */
static void read_first(struct keep_functions *k)
{
	_cleanup_close_ int fd = k->files[0].fd;
	_cleanup_free_ void *bytes = NULL;
	struct function_table table = { 0 };
	struct stat st;
	int r = parser_functions(k->parser, fd, &bytes, &table.size);

	table.bytes = bytes;
	table.owner = fstat(fd, &st) == 0 ? st.st_uid : UINT32_MAX;
	settle(k->store, k->files[0].key, r, &table);
	memmove(&k->files[0], &k->files[1], --k->count * sizeof(k->files[0]));
}

static bool is_waiting(const struct keep_functions *k, const char *key)
{
	size_t i;

	for (i = 0; i < k->count; i++)
		if (!strcmp(k->files[i].key, key))
			return true;
	return false;
}

void keep_functions_soon(struct keep_functions *k, const struct cookie_image *image,
			 const struct cookie_mapped *where)
{
	char key[FUNCTION_KEY];
	int fd;

	if (!k->store || !k->parser || !is_wanted(k->store, image, key) || is_waiting(k, key))
		return;
	fd = cookie_open_version(image, where);
	if (fd < 0)
		return;
	if (k->count == KEEP_FUNCTIONS_FILES)
		read_first(k);
	k->files[k->count].fd = fd;
	memcpy(k->files[k->count++].key, key, sizeof(key));
}

void keep_functions_work(struct keep_functions *k, uint64_t ns)
{
	uint64_t begin_ns = clock_now_ns();

	while (k->count && clock_now_ns() - begin_ns < ns)
		read_first(k);
}

void keep_functions_done(struct keep_functions *k)
{
	while (k->count)
		(void)close(k->files[--k->count].fd);
}
