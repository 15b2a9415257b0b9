/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/feature.h"

#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

static const struct feature_ops *const features[] = { &feature_ibs, &feature_offcpu };

int feature_new(const char *text, const char *root, struct feature **ret, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	size_t i, length = strcspn(text, ":");

	for (i = 0; i < ARRAY_SIZE(features); i++) {
		if (strlen(features[i]->name) == length &&
		    !strncmp(features[i]->name, text, length))
			return features[i]->init(text + length + (text[length] == ':'), root, ret,
						 err);
		strbuf_addf(&names, " %s", features[i]->name);
	}
	return error_set(err, -EINVAL, "no extended feature '%.*s'; available:%s", (int)length,
			 text, strbuf_text(&names));
}

void feature_free(struct feature *f)
{
	if (f)
		f->ops->done(f);
}

bool feature_is_offcpu(const char *text, bool *ret_blocked)
{
	size_t length = strlen(feature_offcpu.name);

	if (!text || strncmp(text, feature_offcpu.name, length) != 0 ||
	    (text[length] && text[length] != ':'))
		return false;
	*ret_blocked = text[length];
	return true;
}
