/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/table_loader.h"

#include "base/mem.h"
#include "driver/bpf/copy_store.h"
#include "driver/bpf/mapped_code.h"
#include "driver/bpf/sampler_images.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Interval of checks whether refused files, and those without a table, may be requested again. */
enum { RETRY_MS = 1000, IDLE_MS = 60000 };

struct table_loader {
	struct sampler *sampler;
	struct table_store *store;
	struct copy_store *copies;
	struct opener *opener; /* or NULL: this process opens files */
	pthread_mutex_t work;  /* over ->store and ->copies */
	struct ring_buffer *ring;
	struct mapped_code *mapped;
	int stop; /* becomes readable when the thread is to end */
	bool running;
	pthread_t thread;
	pthread_mutex_t lock; /* over ->stats */
	struct table_store_stats stats;
};

static int on_want(void *data, void *message, size_t size)
{
	struct table_loader *l = data;
	const struct sample_image *want = message;
	_cleanup_close_ int fd = -1;

	if (size >= sizeof(struct sample_doubt) && want->kind == SAMPLE_DOUBT) {
		if (l->opener)
			copy_store_answer(l->copies, message);
		return 0;
	}
	if (size < offsetof(struct sample_image, path) ||
	    size < offsetof(struct sample_image, path) + want->length)
		return 0;
	if (want->length && l->opener) {
		table_store_load_image(l->store, l->opener, want);
		return 0;
	}
	if (want->length)
		fd = sampler_image_open(want);
	if (want->length && fd < 0)
		table_store_give_up(l->store, &want->file);
	else
		table_store_load(l->store, &want->file, fd);
	return 0;
}

/* Loads the table of a file that has been mapped. Requests come first: returns whether it took
 * time. */
static bool on_mapped(const struct sample_image *image, void *data)
{
	struct table_loader *l = data;

	return l->opener && table_store_expect_image(l->store, l->opener, image);
}

/* Publishes the totals; only this thread uses ->store. */
static void publish(struct table_loader *l)
{
	(void)pthread_mutex_lock(&l->lock);
	table_store_stats(l->store, &l->stats);
	l->stats.counters.unwind_moved_refused = copy_store_refused(l->copies);
	l->stats.counters.unwind_moved_late = copy_store_late(l->copies);
	(void)pthread_mutex_unlock(&l->lock);
}

/* Gives up the capabilities that are for other threads: the owner drops only its own. */
static void renounce(void)
{
	static const int others[] = { CAP_IPC_LOCK, CAP_SYS_NICE };
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { 0 };

	if (syscall(SYS_capget, &head, sets) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		sets[CAP_TO_INDEX(others[i])].permitted &= ~CAP_TO_MASK(others[i]);
		sets[CAP_TO_INDEX(others[i])].effective &= ~CAP_TO_MASK(others[i]);
	}
	(void)syscall(SYS_capset, &head, sets);
}

/* Whether there is anything to do even if nothing is requested. */
static bool has_upkeep(const struct table_loader *l)
{
	return table_store_refuses(l->store) || copy_store_holds(l->copies);
}

/* Lists what the thread waits for, first what ends it. Caller frees. */
static struct pollfd *list_fds(const struct table_loader *l, size_t *ret_count)
{
	const size_t mapped = mapped_code_count(l->mapped);
	struct pollfd *fds = xcalloc(mapped + 2, sizeof(*fds));
	size_t i;

	fds[0] = (struct pollfd){ .fd = l->stop, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = ring_buffer__epoll_fd(l->ring), .events = POLLIN };
	for (i = 0; i < mapped; i++)
		fds[i + 2] =
			(struct pollfd){ .fd = mapped_code_fd(l->mapped, i), .events = POLLIN };
	*ret_count = mapped + 2;
	return fds;
}

static void *serve(void *data)
{
	struct table_loader *l = data;
	size_t count;
	_cleanup_free_ struct pollfd *fds = list_fds(l, &count);
	int waits_ms = 0, n;
	bool prepares;

	renounce();
	while (!fds[0].revents) {
		n = poll(fds, count, waits_ms);
		if (n < 0)
			continue;
		(void)pthread_mutex_lock(&l->work);
		table_store_retry(l->store);
		copy_store_keep(l->copies);
		(void)ring_buffer__consume(l->ring);
		prepares = mapped_code_read(l->mapped, on_mapped, l) || n > 0 ||
			   table_store_prepare(l->store);
		waits_ms = prepares ? 0 : has_upkeep(l) ? RETRY_MS : IDLE_MS;
		publish(l);
		(void)pthread_mutex_unlock(&l->work);
	}
	return NULL;
}

/* Starts the thread with all signals blocked, because another thread waits for them; except SIGSYS,
 * which reports a refused system call and, blocked, would end the process. */
static int start_thread(struct table_loader *l)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&l->thread, NULL, serve, l);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	l->running = r == 0;
	return -r;
}

int table_loader_start(struct sampler *sampler, const struct cookie_table *cookies, size_t budget,
		       struct table_loader **ret, struct error *err)
{
	struct table_loader *l = xcalloc(1, sizeof(*l));
	int r;

	(void)pthread_mutex_init(&l->work, NULL);
	(void)pthread_mutex_init(&l->lock, NULL);
	l->sampler = sampler;
	l->opener = cookies ? cookie_opener(cookies) : NULL;
	l->copies = copy_store_new(sampler, l->opener);
	l->stop = eventfd(0, EFD_CLOEXEC);
	l->mapped = mapped_code_open(sampler);
	l->ring = sampler_rings(sampler_maps(sampler)->wants, SAMPLE_CHAIN_SLOTS, on_want, l);
	r = l->stop < 0 || !l->ring
		    ? error_errno(err, -errno, "cannot watch the requests for unwind tables")
		    : table_store_new(sampler, cookies ? cookie_parser(cookies) : NULL, budget,
				      &l->store, err);
	if (r == 0) {
		table_store_expect(l->store, &(struct sample_file){ 0 }, -1); /* the vdso */
		r = start_thread(l);
		if (r < 0)
			(void)error_errno(err, r, "cannot start a thread");
	}
	if (r < 0) {
		table_loader_stop(l);
		return r;
	}
	*ret = l;
	return 0;
}

void table_loader_expect(struct table_loader *l, int fd)
{
	struct sample_file file;

	if (sampler_identify(l->sampler, fd, &file) < 0)
		return;
	(void)pthread_mutex_lock(&l->work);
	table_store_expect(l->store, &file, fd);
	publish(l);
	(void)pthread_mutex_unlock(&l->work);
}

void table_loader_stop(struct table_loader *l)
{
	if (!l)
		return;
	if (l->running) {
		(void)eventfd_write(l->stop, 1);
		(void)pthread_join(l->thread, NULL);
	}
	table_store_free(l->store);
	copy_store_free(l->copies);
	mapped_code_close(l->mapped);
	ring_buffer__free(l->ring);
	cleanup_closep(&l->stop);
	(void)pthread_mutex_destroy(&l->work);
	(void)pthread_mutex_destroy(&l->lock);
	free(l);
}

void table_loader_stats(struct table_loader *l, struct table_store_stats *ret)
{
	(void)pthread_mutex_lock(&l->lock);
	*ret = l->stats;
	(void)pthread_mutex_unlock(&l->lock);
}
