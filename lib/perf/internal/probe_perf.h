/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes that open perf events, for the table in probe.c alone. */
#pragma once

struct probe_result;

/* The caller's own user space by the clock, which every user should have. */
void probe_own_process(const char *root, struct probe_result *ret);
/* A whole CPU by the clock. */
void probe_system_wide(const char *root, struct probe_result *ret);
/* Hardware cycles. */
void probe_hardware_event(const char *root, struct probe_result *ret);
/* Memory for a ring of usual size. */
void probe_mlock(const char *root, struct probe_result *ret);
