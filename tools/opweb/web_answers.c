/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_answers.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "tools/opweb/web_maker.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 32 };

struct web_answers {
	int socket;
	off_t bytes_max;
	uint32_t last; /* the number of the last question */
	uint64_t uses; /* of all answers */
	struct web_made list[KEPT];
};

struct web_answers *web_answers_new(int socket, off_t bytes_max)
{
	struct web_answers *a = xcalloc(1, sizeof(*a));

	a->socket = socket;
	a->bytes_max = bytes_max;
	return a;
}

static void drop(struct web_made *m)
{
	if (m->number && m->file >= 0)
		(void)close(m->file);
	free(m->question);
	*m = (struct web_made){ 0 };
}

void web_answers_free(struct web_answers *a)
{
	size_t i;

	for (i = 0; a && i < KEPT; i++)
		drop(&a->list[i]);
	free(a);
}

static bool is_fresh(const struct web_made *m, int64_t fresh_ms)
{
	if (!m->is_ready)
		return true;
	return m->status == 0 && (fresh_ms < 0 || clock_now_ms() - m->made_ms <= fresh_ms);
}

/* Whether nobody waits for it, and it is worth less than @other: free, or not used for longer. */
static bool is_worth_less(const struct web_made *m, const struct web_made *other)
{
	if (m->users || (m->number && !m->is_ready))
		return false;
	return !other || (other->number && (!m->number || m->used < other->used));
}

/* Drops answers, the one not used for longest first, until the others and @wanted have room.
 * Returns whether they have. */
static bool make_bytes(struct web_answers *a, off_t wanted, const struct web_made *except)
{
	for (;;) {
		struct web_made *least = NULL;
		off_t sum = wanted;
		size_t i;

		for (i = 0; i < KEPT; i++) {
			struct web_made *m = &a->list[i];

			sum += m->size;
			if (m->size && m != except && is_worth_less(m, least))
				least = m;
		}
		if (sum <= a->bytes_max)
			return true;
		if (!least)
			return false;
		drop(least);
	}
}

/* A place for another answer, or NULL. */
static struct web_made *make_room(struct web_answers *a)
{
	struct web_made *least = NULL;
	size_t i;

	for (i = 0; i < KEPT; i++)
		if (is_worth_less(&a->list[i], least))
			least = &a->list[i];
	if (least)
		drop(least);
	return least;
}

struct web_made *web_answers_ask(struct web_answers *a, const char *question, int64_t fresh_ms)
{
	struct web_made *m;
	size_t i;

	for (i = 0; i < KEPT; i++) {
		m = &a->list[i];
		if (!m->number || strcmp(m->question, question) != 0)
			continue;
		m->used = ++a->uses;
		if (is_fresh(m, fresh_ms))
			return m;
		if (!m->users) /* nobody will get it any more, and it may be large */
			drop(m);
	}
	/* One byte, because nobody knows yet how large the answer is. */
	m = make_bytes(a, 1, NULL) ? make_room(a) : NULL;
	a->last += a->last == UINT32_MAX ? 2 : 1;
	if (!m || web_maker_ask(a->socket, a->last, question) < 0)
		return NULL;
	*m = (struct web_made){
		.question = xstrdup(question), .number = a->last, .file = -1, .used = ++a->uses
	};
	return m;
}

/* Answers have many megabytes, so they are hashed by words. */
static uint64_t tag_of(const uint8_t *data, size_t size)
{
	uint64_t tag = size, word = 0;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		tag = (tag ^ word) * 0x9e3779b97f4a7c15ULL;
		tag ^= tag >> 32;
	}
	return hash_add(tag, hash_bytes(data + i, size - i));
}

/* Notes how large the file is, and its tag. */
static void measure(struct web_made *m)
{
	struct stat st = { 0 };
	void *data;

	if (m->file < 0 || fstat(m->file, &st) < 0)
		return;
	m->size = st.st_size;
	data = m->size ? mmap(NULL, (size_t)m->size, PROT_READ, MAP_SHARED, m->file, 0)
		       : MAP_FAILED;
	if (data == MAP_FAILED)
		return;
	m->tag = tag_of(data, (size_t)m->size);
	(void)munmap(data, (size_t)m->size);
}

struct web_made *web_answers_take(struct web_answers *a)
{
	uint32_t number;
	int status, file;
	size_t i;

	if (web_maker_take(a->socket, &number, &status, &file) < 0)
		return NULL;
	for (i = 0; i < KEPT; i++) {
		struct web_made *m = &a->list[i];

		if (m->number != number)
			continue;
		m->status = status;
		m->file = file;
		m->made_ms = clock_now_ms();
		m->is_ready = true;
		measure(m);
		(void)make_bytes(a, 0, m);
		return m;
	}
	if (file >= 0)
		(void)close(file);
	return NULL;
}

void web_answers_forget(struct web_answers *a, const char *prefix)
{
	size_t i;

	for (i = 0; i < KEPT; i++)
		if (a->list[i].is_ready && !a->list[i].users &&
		    !strncmp(a->list[i].question, prefix, strlen(prefix)))
			drop(&a->list[i]);
}
