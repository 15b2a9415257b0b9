/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/quota.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/procfs.h"
#include "parser/parser.h"
#include "collect/internal/session_size.h"
#include "record/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const uint64_t look_every = NS_PER_S, look_closely = NS_PER_S / 5;
static const uint64_t settle = 3 * NS_PER_S; /* time to wait for the effect of a step */

/* Time with ample room after which a level is undone: at first, and at most. With room that is not
 * ample, it takes CALM_LONGER times as long: there may never be more. */
static const uint64_t calm_min = 60 * NS_PER_S, calm_max = 3600 * NS_PER_S;
enum { CALM_LONGER = 10 };
/* Before anything is shed, what is kept only for speed is freed; again after this time. Memory that
 * is free already is looked for as seldom. */
static const uint64_t relieve_every = 60 * NS_PER_S;
/* The least memory of a parser is that of one or two of these. */
static const uint64_t parser_span = 5 * NS_PER_S;

/* Percent of a limit at which it is near, work is shed, sampling pauses, sampling resumes, and
 * there is ample room. */
enum { NEAR_AT = 60, SHED_AT = 90, PAUSE_AT = 98, RESUME_AT = 85, CALM_AT = 75 };
/* The same of the space to keep free. */
enum {
	FREE_NEAR_AT = 200,
	FREE_SHED_AT = 150,
	FREE_PAUSE_AT = 100,
	FREE_RESUME_AT = 200,
	FREE_CALM_AT = 250
};
/* With a limit on free space, 1/N of the file system's inodes are left free, too. */
enum { KEEP_INODES = 50 };
/* The time for walks through the session, as 1/N of all time: normally; if the file system fills or
 * a limit of disk space is near; if both. */
enum { WALK_SHARE = 4000, WALK_SHARE_SOON = 400, WALK_SHARE_NOW = 50 };
/* The file system fills if 1/FILLING of the space left for the session was taken since the last
 * walk. */
enum { FILLING = 8 };

/* What runs short and can be relieved. */
static const char memory[] = "memory";

struct quota {
	struct quota_limits limits;
	struct quota_use use;
	char *session_dir;
	struct parser *parser;
	enum quota_level level, shed; /* ->shed ignores a pause */
	const char *what;
	uint64_t looked_ns, stepped_ns, relieved_ns, trimmed_ns;
	uint64_t room_since_ns, calm_since_ns; /* there is room, or ample room, since then; 0: there
						* is not */
	uint64_t calm_ns;		       /* so long before a level is undone */
	uint64_t undone_ns;		       /* when the last one was; 0: none */
	uint64_t paused_ns;		       /* begin of the pause */
	struct {
		uint64_t since_ns, now, before; /* the least in this span, and in the one before */
	} parser_least;
	struct session_size *size; /* which walks through the session */
	uint64_t disk;		   /* what the last walk found */
	uint64_t walked_ns,
		walk_ns;    /* begin of the last walk (0: walk at once), and its CPU time */
	uint64_t free_then; /* at its begin */
};

static const struct {
	const char *name, *meaning;
} levels[] = {
#define X(name, word, text) [QUOTA_##name] = { word, text },
	QUOTA_LEVELS(X)
#undef X
};

struct quota *quota_new(const struct quota_limits *limits, const char *session_dir,
			struct parser *parser)
{
	struct quota *q = xcalloc(1, sizeof(*q));

	q->limits = *limits;
	q->session_dir = xstrdup(session_dir);
	q->size = session_size_new(session_dir);
	q->parser = parser;
	q->calm_ns = calm_min;
	return q;
}

void quota_free(struct quota *q)
{
	if (!q)
		return;
	session_size_free(q->size);
	free(q->session_dir);
	free(q);
}

void quota_reset(struct quota *q)
{
	if (q->level != QUOTA_PAUSED) {
		q->level = QUOTA_EASY;
		q->disk = 0; /* until it is known: it would be shed for what is gone */
	}
	q->shed = QUOTA_EASY;
	q->room_since_ns = q->calm_since_ns = 0;
	q->walked_ns = 0;
	session_size_forget(q->size);
}

const char *quota_level_name(enum quota_level level)
{
	return levels[level].name;
}

const char *quota_level_meaning(enum quota_level level)
{
	return levels[level].meaning;
}

/* --- deciding --- */

static bool above(uint64_t used, uint64_t limit, unsigned int percent)
{
	return limit && used >= limit / 100 * percent;
}

static bool below(uint64_t left, uint64_t keep, unsigned int percent)
{
	return keep && left < keep / 100 * percent;
}

/* Returns what has run short, by these percentages; NULL: nothing. Descriptors never cause a pause,
 * because few suffice for sample files. */
static const char *short_of(const struct quota *q, const struct quota_use *use,
			    unsigned int percent, unsigned int free_percent, bool files)
{
	if (above(use->memory, q->limits.memory, percent))
		return memory;
	if (above(use->disk, q->limits.disk, percent))
		return "disk";
	if (below(use->free, q->limits.keep_free, free_percent))
		return "free disk space";
	if (q->limits.keep_free && below(use->inodes_free, use->inodes / KEEP_INODES, free_percent))
		return "free inodes";
	return files && above(use->files, q->limits.files, percent) ? "descriptors" : NULL;
}

/* The next level that frees anything; @level if only a pause is left. */
static enum quota_level next_level(enum quota_level level, unsigned int useful)
{
	enum quota_level next;

	for (next = level + 1; next < QUOTA_PAUSED; next++)
		if (useful & 1u << next)
			return next;
	return level;
}

/* The level before @level that frees anything. */
static enum quota_level previous_level(enum quota_level level, unsigned int useful)
{
	while (--level > QUOTA_EASY && !(useful & 1u << level))
		;
	return level;
}

/* Returns for how long something holds, if it @holds now; *@since_ns is when that began. */
static uint64_t time_since(uint64_t *since_ns, bool holds, uint64_t now_ns)
{
	if (!holds)
		*since_ns = 0;
	else if (!*since_ns)
		*since_ns = now_ns;
	return holds ? now_ns - *since_ns : 0;
}

/* Undoes a level after a long enough time with room. */
static void step_back(struct quota *q, const struct quota_use *use, uint64_t now_ns,
		      unsigned int useful)
{
	const bool is_shed = q->shed != QUOTA_EASY;
	const uint64_t room_ns =
		time_since(&q->room_since_ns,
			   is_shed && !short_of(q, use, RESUME_AT, FREE_RESUME_AT, true), now_ns);
	const uint64_t calm_ns =
		time_since(&q->calm_since_ns,
			   is_shed && !short_of(q, use, CALM_AT, FREE_CALM_AT, true), now_ns);

	if (!is_shed || (calm_ns < q->calm_ns && room_ns < CALM_LONGER * q->calm_ns))
		return;
	q->level = q->shed = previous_level(q->shed, useful);
	q->room_since_ns = q->calm_since_ns = q->undone_ns = now_ns;
}

/* Whether what is kept only for speed is freed now, instead of shedding anything. That helps if
 * @what is memory: other files need descriptors. */
static bool is_relieved(struct quota *q, const char *what, uint64_t now_ns)
{
	if (q->shed != QUOTA_EASY || what != memory ||
	    (q->relieved_ns && now_ns - q->relieved_ns < relieve_every))
		return false;
	q->relieved_ns = now_ns;
	return true;
}

/* A level that has to be shed soon after one was undone is undone later the next time. */
static void note_shedding(struct quota *q, uint64_t now_ns)
{
	bool soon = q->undone_ns && now_ns - q->undone_ns < 10 * q->calm_ns;

	q->calm_ns = soon ? MIN(2 * q->calm_ns, calm_max) : calm_min;
	q->undone_ns = q->room_since_ns = q->calm_since_ns = 0;
}

/* Ends a pause as soon as there is room. What was freed may not be enough for that, and nothing
 * more may become free: after some time, being below the limit is enough. */
static void end_pause(struct quota *q, const struct quota_use *use, uint64_t now_ns)
{
	bool is_long = now_ns - q->paused_ns >= q->calm_ns;

	if (!short_of(q, use, RESUME_AT, FREE_RESUME_AT, false)) {
		q->level = q->shed;
	} else if (is_long && !short_of(q, use, PAUSE_AT, FREE_PAUSE_AT, false)) {
		q->level = q->shed;
		q->undone_ns = now_ns; /* if it was too early, the next pause is longer */
	}
}

enum quota_level quota_step(struct quota *q, const struct quota_use *use, uint64_t now_ns,
			    unsigned int useful)
{
	const char *what;

	q->use = *use;
	if (q->level == QUOTA_PAUSED) {
		end_pause(q, use, now_ns);
		return q->level;
	}
	what = short_of(q, use, PAUSE_AT, FREE_PAUSE_AT, false);
	if (what) {
		q->what = what;
		note_shedding(q, now_ns);
		q->paused_ns = now_ns;
		/* All levels at once: with no room at all, there is no time either. */
		while (next_level(q->shed, useful) != q->shed)
			q->shed = next_level(q->shed, useful);
		return q->level = QUOTA_PAUSED;
	}
	what = short_of(q, use, SHED_AT, FREE_SHED_AT, true);
	if (!what)
		step_back(q, use, now_ns, useful);
	if (!what || (q->stepped_ns && now_ns - q->stepped_ns < settle))
		return q->level;
	q->stepped_ns = now_ns;
	if (is_relieved(q, what, now_ns))
		return q->level;
	note_shedding(q, now_ns);
	q->what = what;
	q->level = q->shed = next_level(q->shed, useful);
	return q->level;
}

/* --- looking --- */

uint64_t quota_parser_memory(struct quota *q, uint64_t bytes, uint64_t now_ns)
{
	if (now_ns - q->parser_least.since_ns >= parser_span) {
		q->parser_least.before = q->parser_least.since_ns ? q->parser_least.now : bytes;
		q->parser_least.now = bytes;
		q->parser_least.since_ns = now_ns;
	}
	q->parser_least.now = MIN(q->parser_least.now, bytes);
	return MIN(q->parser_least.now, q->parser_least.before);
}

static void look_at_memory(struct quota *q, uint64_t now_ns, const struct driver_ops *ops,
			   const struct driver *driver, struct quota_use *use)
{
	use->parser = quota_parser_memory(q, parser_memory(q->parser), now_ns);
	use->kernel = ops->kernel_bytes ? ops->kernel_bytes(driver) : 0;
	if (procfs_memory(NULL, 0, &use->memory, NULL) < 0)
		use->memory = 0;
	use->memory += use->parser + use->kernel;
}

/* The lowest free descriptor: about the number in use. */
static uint64_t descriptors(uint64_t limit)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return limit;
	(void)close(fd);
	return (uint64_t)fd;
}

/* Returns whether a limit may soon be reached. */
static bool is_near(const struct quota *q)
{
	return short_of(q, &q->use, NEAR_AT, FREE_NEAR_AT, true);
}

static bool is_disk_near(const struct quota *q)
{
	return above(q->use.disk, q->limits.disk, NEAR_AT) ||
	       below(q->use.free, q->limits.keep_free, FREE_NEAR_AT);
}

unsigned int quota_walk_share(const struct quota *q, uint64_t free_then, uint64_t free_now)
{
	uint64_t left = q->limits.disk - MIN(q->use.disk, q->limits.disk);
	bool fills = free_now < free_then && free_then - free_now > left / FILLING;

	if (fills && is_disk_near(q))
		return WALK_SHARE_NOW;
	return fills || is_disk_near(q) ? WALK_SHARE_SOON : WALK_SHARE;
}

/* Has the session walked through, but only as often as that costs little. What the last walk found
 * counts until the next one is over. */
static void look_at_disk(struct quota *q, uint64_t now_ns, struct quota_use *use)
{
	struct statvfs fs;

	use->free = UINT64_MAX;
	use->inodes = 0;
	if (statvfs(q->session_dir, &fs) == 0) {
		use->free = (uint64_t)fs.f_bavail * fs.f_frsize;
		use->inodes = fs.f_files;
		use->inodes_free = fs.f_favail;
	}
	(void)session_size_take(q->size, &q->disk, &q->walk_ns);
	use->disk = q->disk;
	if (!q->limits.disk || session_size_is_asked(q->size) ||
	    (q->walked_ns &&
	     now_ns < q->walked_ns + q->walk_ns * quota_walk_share(q, q->free_then, use->free)))
		return;
	if (!session_size_ask(q->size))
		return;
	q->walked_ns = now_ns;
	q->free_then = use->free;
}

/* --- acting --- */

static void say(const struct quota *q, enum quota_level was)
{
	if (q->level == QUOTA_PAUSED || q->level > was)
		log_warn("%s: %s; in use: %" PRIu64 " MiB of memory, %" PRIu64
			 " MiB of disk (%" PRIu64 " MiB are free), %" PRIu64 " descriptors",
			 q->what, levels[q->level].meaning, q->use.memory >> 20, q->use.disk >> 20,
			 q->use.free >> 20, q->use.files);
	else
		log_info("there is room again: %s%s",
			 was == QUOTA_PAUSED ? "sampling continues; " : "",
			 levels[q->level].meaning);
}

/* What the levels up to @level shed, as bits. */
static unsigned int shed_bits(enum quota_level level)
{
	return (level >= QUOTA_CHAINS ? RECORD_SHED_CHAINS : 0u) |
	       (level >= QUOTA_JIT ? RECORD_SHED_JIT : 0u) |
	       (level >= QUOTA_THREADS ? RECORD_SHED_THREADS : 0u);
}

/* The levels, as bits, that would free anything. */
static unsigned int useful_levels(const struct record *rec)
{
	unsigned int spares = record_can_shed(rec);

	return (spares & RECORD_SHED_CHAINS ? 1u << QUOTA_CHAINS : 0u) |
	       (spares & RECORD_SHED_JIT ? 1u << QUOTA_JIT : 0u) |
	       (spares & RECORD_SHED_THREADS ? 1u << QUOTA_THREADS : 0u);
}

bool quota_trims(struct quota *q, bool is_freed, uint64_t now_ns)
{
	if (!is_freed && q->trimmed_ns && now_ns - q->trimmed_ns < relieve_every)
		return false;
	q->trimmed_ns = now_ns;
	return true;
}

/* Frees what is in memory only for speed. As long as memory is short, that is little each time, and
 * malloc_trim() walks through all that is free. */
static void relieve(struct quota *q, struct record *rec, bool is_freed)
{
	record_yield_files(rec);
	record_end_pair(rec);
	if (quota_trims(q, is_freed, q->looked_ns))
		(void)malloc_trim(0);
}

/* The same if nothing is shed, or nothing more can be. */
static void relieve_and_say(struct quota *q, struct record *rec)
{
	relieve(q, rec, false);
	log_debug("%" PRIu64 " MiB of memory and %" PRIu64 " descriptors were in use: what is in "
		  "memory only for speed was freed",
		  q->use.memory >> 20, q->use.files);
}

static void act(struct quota *q, enum quota_level was, struct record *rec,
		const struct driver_ops *ops, struct driver *driver)
{
	struct error err = ERROR_INIT;

	if (q->level == QUOTA_PAUSED) {
		ops->stop(driver);
		(void)ops->sync(driver, true, NULL);
		record_count_pause(rec);
	}
	if (q->level < was && was != QUOTA_PAUSED)
		record_count_undone(rec);
	record_shed(rec, shed_bits(q->shed));
	relieve(q, rec, true);
	if (was == QUOTA_PAUSED && q->level != QUOTA_PAUSED && ops->start(driver, &err) < 0)
		log_error("%s", err.text);
	say(q, was);
}

void quota_keep(struct quota *q, struct record *rec, const struct driver_ops *ops,
		struct driver *driver)
{
	uint64_t now_ns = clock_now_ns(), stepped_ns = q->stepped_ns;
	enum quota_level was = q->level;
	struct quota_use use;

	if (q->looked_ns &&
	    now_ns - q->looked_ns <
		    (is_near(q) || session_size_is_asked(q->size) ? look_closely : look_every))
		return;
	q->looked_ns = now_ns;
	look_at_memory(q, now_ns, ops, driver, &use);
	use.files = descriptors(q->limits.files);
	look_at_disk(q, now_ns, &use);
	(void)quota_step(q, &use, now_ns, useful_levels(rec));
	if (q->level != was)
		act(q, was, rec, ops, driver);
	else if (q->stepped_ns != stepped_ns)
		relieve_and_say(q, rec);
	else
		record_shed(rec, shed_bits(q->shed));
}

void quota_read(const struct quota *q, struct quota_reading *ret)
{
	*ret = (struct quota_reading){ q->limits, q->use, q->level, q->what };
}
