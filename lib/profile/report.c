/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/report.h"

#include "base/path.h"

#include <string.h>

const char *report_image_name(const struct gather *g, uint32_t image, bool long_names)
{
	const struct gather_image *i = &g->images[image];

	return i->id.kind == SNAME_ROOT && !long_names ? path_base(i->shown) : i->shown;
}

const char *report_image(const struct report *r, uint32_t image)
{
	return report_image_name(r->gather, image, r->long_names);
}

bool report_has_apps(const struct report *r)
{
	size_t i;

	for (i = 1; i < r->container->count; i++)
		if (r->container->rows[i].app != r->container->rows[0].app)
			return true;
	return false;
}

void report_percent(double percent, char text[16])
{
	if (percent == 0)
		(void)snprintf(text, 16, "%7d", 0);
	else if (percent < 0.001)
		(void)snprintf(text, 16, "%7.1e", percent);
	else if (percent >= 99.99995)
		(void)snprintf(text, 16, "%7.3f", percent);
	else
		(void)snprintf(text, 16, "%7.4f", percent);
}

void report_class_name(const struct report *r, size_t class, size_t width, char *text)
{
	const char *name = r->classes->classes[class].name;
	const char *tail = strrchr(name, ':');
	size_t keep = tail ? strlen(tail) : 0;

	if (strlen(name) <= width) {
		(void)strcpy(text, name);
		return;
	}
	if (keep + 3 >= width)
		keep = 0;
	(void)snprintf(text, width + 1, "%.*s...%s", (int)(width - 3 - keep), name,
		       keep ? tail : "");
}
