/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/internal/kernel_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "file/path.h"
#include "helper/errands.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How long to wait for the thread, and how long not to wait after it took longer. */
enum { WAIT_MS = 20, PAUSE_MS = 200 };

/* What the thread is asked for. */
struct job {
	struct errand errand;
	const char *root;
	const char *boot; /* NULL: only sync */
	char *path;
	struct kernel_reading reading;
};

struct kernel_reader {
	char *root, *boot;
	struct errands *errands; /* NULL: nothing was asked yet */
	uint64_t last;		 /* number of the last errand */
	struct job *done;	 /* a reading that is to be taken, or NULL */
	bool is_asked;
	unsigned int unsynced;	/* pieces that may not be on the disk */
	uint64_t patient_at_ns; /* the next time to wait for the thread */
};

static void free_job(struct job *j)
{
	kallsyms_ranges_done(&j->reading.ranges);
	free(j->path);
	free(j);
}

static void drop(struct errand *e)
{
	free_job((struct job *)e);
}

static void run(struct errand *e)
{
	struct job *j = (struct job *)e;
	struct kernel_reading *reading = &j->reading;
	uint64_t since_ns = clock_now_ns();

	if (!j->boot) {
		reading->result = kallsyms_sync(j->path);
		return;
	}
	reading->result = kallsyms_ranges_read(j->root, &reading->ranges, &reading->why);
	reading->took_ns = clock_now_ns() - since_ns;
	if (reading->result == 0)
		reading->is_saved = kallsyms_save(j->root, &reading->ranges, j->boot, j->path,
						  &reading->why) == 0;
}

static char *boot_id(const char *root)
{
	char *text = NULL;

	if (path_read(root, "/proc/sys/kernel/random/boot_id", &text, NULL) > 0)
		text[strcspn(text, " \t\n")] = '\0';
	if (text && *text)
		return text;
	free(text);
	return xstrdup("-");
}

struct kernel_reader *kernel_reader_new(const char *root)
{
	struct kernel_reader *r = xcalloc(1, sizeof(*r));

	r->root = xstrdup(root);
	r->boot = boot_id(root);
	return r;
}

void kernel_reader_free(struct kernel_reader *r)
{
	if (!r)
		return;
	errands_free(r->errands);
	if (r->done)
		free_job(r->done);
	free(r->root);
	free(r->boot);
	free(r);
}

/* Takes back what the thread is done with. */
static void settle(struct kernel_reader *r)
{
	struct errand *e;

	while (r->errands && (e = errands_take(r->errands))) {
		struct job *j = (struct job *)e;

		if (j->boot) {
			r->done = j;
			continue;
		}
		/* What failed will fail again; the caller must not stop to count samples for it. */
		if (j->reading.result < 0)
			log_warn("%s is not on the disk yet: %s", j->path,
				 strerror(-j->reading.result));
		r->unsynced--;
		free_job(j);
	}
}

static bool add(struct kernel_reader *r, const char *path, const char *boot)
{
	uint64_t number;
	struct job *j;

	if (!r->errands && errands_new(ERRANDS_KERNEL, &r->errands, NULL) < 0)
		return false;
	j = xcalloc(1, sizeof(*j));
	*j = (struct job){ .errand = { .run = run, .drop = drop },
			   .root = r->root,
			   .path = xstrdup(path),
			   .boot = boot };
	number = errands_add(r->errands, &j->errand);
	r->last = number ?: r->last;
	return number;
}

const char *kernel_reader_boot(const struct kernel_reader *r)
{
	return r->boot;
}

bool kernel_reader_ask(struct kernel_reader *r, const char *path)
{
	if (!r->is_asked)
		r->is_asked = add(r, path, r->boot);
	return r->is_asked;
}

bool kernel_reader_is_asked(const struct kernel_reader *r)
{
	return r->is_asked;
}

void kernel_reader_await(struct kernel_reader *r)
{
	while (r->errands && !errands_wait(r->errands, r->last, INT_MAX))
		;
}

bool kernel_reader_take(struct kernel_reader *r, struct kernel_reading *ret)
{
	settle(r);
	if (!r->done)
		return false;
	*ret = r->done->reading;
	r->done->reading.ranges = (struct kallsyms_ranges){ 0 };
	free_job(r->done);
	r->done = NULL;
	r->is_asked = false;
	return true;
}

void kernel_reader_sync(struct kernel_reader *r, const char *path)
{
	if (add(r, path, NULL))
		r->unsynced++;
	else
		(void)kallsyms_sync(path);
}

bool kernel_reader_lets_write(struct kernel_reader *r)
{
	uint64_t now_ns = clock_now_ns();

	settle(r);
	if ((!r->is_asked || r->done) && r->unsynced < KALLSYMS_UNSYNCED_MAX)
		return true;
	if (errands_wait(r->errands, r->last, now_ns < r->patient_at_ns ? 0 : WAIT_MS))
		return true;
	r->patient_at_ns = MAX(r->patient_at_ns, now_ns + PAUSE_MS * (NS_PER_S / 1000));
	return false;
}
