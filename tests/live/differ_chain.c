/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "differ_chain.h"

#include "base/mem.h"
#include "unwind/unwind_chain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 2 };

struct chain *chain_new(const struct maps *maps, uint32_t tid, const uint64_t *pcs, size_t count)
{
	struct chain *c = xmalloc(sizeof(*c) + count * sizeof(*c->frames));
	const struct mapping *m;
	size_t i;

	*c = (struct chain){ .tid = tid };
	for (i = 0; i < count; i++) {
		/* A return address may be after the mapping of the call. */
		m = maps ? maps_find(maps, i ? pcs[i] - 1 : pcs[i]) : NULL;
		if (!m)
			break;
		c->frames[c->count++] =
			m->cookie ? (struct evbuf_frame){ m->cookie, pcs[i] - m->start + m->offset }
				  : (struct evbuf_frame){ EVBUF_NO_COOKIE, pcs[i] };
	}
	return c;
}

/* Reads the @size bytes of code from @offset on in the file of @frame; whether that went well. */
static bool read_code(const struct cookie_table *cookies, const struct evbuf_frame *frame,
		      uint64_t offset, void *code, size_t size)
{
	const struct cookie_image *image = cookie_lookup(cookies, frame->cookie);
	_cleanup_close_ int fd = image ? open(image->path, O_RDONLY | O_CLOEXEC) : -1;

	return fd >= 0 && pread(fd, code, size, (off_t)offset) == (ssize_t)size;
}

/* Whether a call instruction ends at @frame. */
static bool follows_call(const struct cookie_table *cookies, const struct evbuf_frame *frame)
{
	uint8_t code[7];
	size_t n;

	/* Generated code is in no file, but the unwinder has looked at that instruction itself. */
	if (frame->cookie == EVBUF_NO_COOKIE)
		return true;
	if (!read_code(cookies, frame, frame->offset - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (n = 0; n < 6; n++) /* ff /2 with whatever addressing */
		if (code[n] == 0xff && (code[n + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Whether their chain is ours without the frame at @i, or the two from there on, which are true;
 * it may end before ours. */
static bool is_skipped(const struct cookie_table *cookies, const struct chain *ours,
		       const struct chain *theirs, size_t i)
{
	size_t left = theirs->count - i, more;

	for (more = 1; i < theirs->count && more <= 2 && i + more + left <= ours->count; more++)
		if (!memcmp(ours->frames + i + more, theirs->frames + i,
			    left * sizeof(*ours->frames)))
			return follows_call(cookies, &ours->frames[i]) &&
			       follows_call(cookies, &ours->frames[i + more - 1]);
	return false;
}

/* Whether a signal trampoline is at @offset in the file of @frame. */
static bool is_trampoline(const struct cookie_table *cookies, const struct evbuf_frame *frame,
			  uint64_t offset)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(sigreturn)];

	return read_code(cookies, frame, offset, code, sizeof(code)) &&
	       !memcmp(code, sigreturn, sizeof(code));
}

/* Whether frame @i is a signal trampoline that libdw takes for a caller, or is below one that is in
 * its system call. Without call frame information it is lost from there on. Ours is one more than
 * its return address, because no call is before it. */
static bool lost_at_trampoline(const struct cookie_table *cookies, const struct chain *ours,
			       const struct chain *theirs, size_t i)
{
	enum { TO_CALL = 7 };
	const struct evbuf_frame *first = &ours->frames[0];

	if (i == 1 && is_trampoline(cookies, first, first->offset - TO_CALL))
		return true;
	return ours->frames[i].cookie == theirs->frames[i].cookie &&
	       ours->frames[i].offset == theirs->frames[i].offset + 1 &&
	       is_trampoline(cookies, &ours->frames[i], theirs->frames[i].offset);
}

enum verdict chain_compare(const struct cookie_table *cookies, const struct chain *ours,
			   const struct chain *theirs)
{
	size_t i = 0;

	while (i < ours->count && i < theirs->count &&
	       !memcmp(&ours->frames[i], &theirs->frames[i], sizeof(ours->frames[i])))
		i++;
	if (i == ours->count && i == theirs->count)
		return VERDICT_SAME;
	if (i == ours->count && ours->end == CHAIN_END_NOT_LOADED)
		return VERDICT_WAITING;
	if (i == ours->count)
		return VERDICT_SHORTER;
	if (i == theirs->count || lost_at_trampoline(cookies, ours, theirs, i))
		return VERDICT_LONGER;
	return is_skipped(cookies, ours, theirs, i) ? VERDICT_SKIPPED : VERDICT_DIFFERENT;
}

static void show_frame(const struct cookie_table *cookies, const struct chain *c, size_t i)
{
	const struct cookie_image *image;

	if (i >= c->count)
		return;
	image = cookie_lookup(cookies, c->frames[i].cookie);
	printf("%s+%#" PRIx64, image ? image->path : "?", c->frames[i].offset);
}

static void show(const struct cookie_table *cookies, const struct chain *ours,
		 const struct chain *theirs)
{
	size_t i, most = MAX(ours->count, theirs->count);

	printf("# ours %u (%s), libdw's %u\n", ours->count, chain_end_name(ours->end),
	       theirs->count);
	for (i = 0; i < most; i++) {
		printf("#   ");
		show_frame(cookies, ours, i);
		printf(" | ");
		show_frame(cookies, theirs, i);
		printf("\n");
	}
}

void tally_add(struct tally *t, const struct cookie_table *cookies, const struct chain *ours,
	       const struct chain *theirs)
{
	enum verdict v = chain_compare(cookies, ours, theirs);

	if ((v == VERDICT_DIFFERENT || v == VERDICT_SHORTER) && t->verdicts[v] < SHOWN)
		show(cookies, ours, theirs);
	t->chains++;
	t->frames += ours->count;
	t->verdicts[v]++;
	t->ends[ours->end]++;
}

void tally_tell(const struct tally *t, const char *what)
{
	static const char *const names[] = {
		[VERDICT_SAME] = "same",
		[VERDICT_DIFFERENT] = "different",
		[VERDICT_SHORTER] = "shorter",
		[VERDICT_LONGER] = "longer",
		[VERDICT_SKIPPED] = "skipped by libdw",
		[VERDICT_WAITING] = "not loaded",
	};
	unsigned int i;

	static_assert(ARRAY_SIZE(names) == VERDICT_COUNT_, "a name for each");
	printf("  %s: %" PRIu64 " chains, %.1f frames;", what, t->chains,
	       t->chains ? (double)t->frames / (double)t->chains : 0);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		printf(" %s %" PRIu64, names[i], t->verdicts[i]);
	printf(";");
	for (i = 0; i < CHAIN_END_COUNT_; i++)
		if (t->ends[i])
			printf(" %s %" PRIu64, chain_end_name(i), t->ends[i]);
	printf("\n");
}

bool tally_is_good(const struct tally *t)
{
	return !t->verdicts[VERDICT_DIFFERENT] &&
	       t->verdicts[VERDICT_SHORTER] <= MAX(t->chains / 500, (uint64_t)1) &&
	       t->verdicts[VERDICT_WAITING] * 2 <= t->chains;
}
