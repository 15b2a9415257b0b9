/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel is one image without symbols, called no-vmlinux, and what helps: that depends on
 * whether the session was recorded or is an import of a perf.data.
 *
 *	log_warn("%s", no_vmlinux_warning(samples));
 */
#pragma once

/* Returns the warning of a report about the session @samples; static. */
const char *no_vmlinux_warning(const char *samples);
/* Returns the remedy at the end of such a report; static. */
const char *no_vmlinux_remedy(const char *samples);
