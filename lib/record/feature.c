/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/feature.h"

static const struct feature_ops *const features[] = { &feature_ibs, &feature_offcpu };

struct feature *feature_new(const struct evderived *derived, const char *root)
{
	struct feature *f = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(features) && !f; i++)
		f = features[i]->init(derived, root);
	return f;
}

void feature_free(struct feature *f)
{
	if (f)
		f->ops->done(f);
}
