// SPDX-License-Identifier: GPL-2.0-or-later
// What the frames of flame graphs are: functions, or groups of them. Groups are a profile of their own, whose functions they are.
import { className } from './classes.js';
import { KIND_APPLICATION, KIND_CUT, KIND_NONE, KIND_RARE, KINDS_WITH_DOTS } from './color.js';

/** What a frame may be, with names for one and for several. */
export const FRAMES = { function: ['function', 'functions'], image: ['image', 'images'], class: ['class', 'classes'], file: ['source file', 'source files'] };

/** What a function is grouped by in its image, besides that; '': nothing. */
const NAMES_IN_IMAGE = {
	image: () => '',
	class: ({ func, plain }, f) => className(plain[f] ?? '', KINDS_WITH_DOTS.includes(func.kind[f])),
	file: ({ files }, f) => files[f],
};

/** The groups of a profile's functions: { of (the group of each function), first (a function of each), names ('': that of the image),
 * isAlone }. Those by class or file are of one image; functions without one are one group of it. What is no function is alone:
 * applications, marks of chains, what is too small to show. */
function groupFunctions(profile, by) {
	const { func, plain, count, rest } = profile, numbers = new Map(), of = new Uint32Array(count), first = [], names = [], isAlone = [];
	for (let f = 0; f < count; f++) {
		const kind = func.kind[f], alone = !f || f === rest || kind === KIND_APPLICATION || kind === KIND_CUT;
		const name = alone ? plain[f] : NAMES_IN_IMAGE[by](profile, f);
		const key = alone ? `${f}` : `${func.image[f]}\n${name}`;
		if (!numbers.has(key)) {
			numbers.set(key, first.push(f) - 1);
			names.push(name);
			isAlone.push(alone);
		}
		of[f] = numbers.get(key);
	}
	return { of, first, names, isAlone };
}

/** The function of each group with the most own samples; one with a name, if there is any. */
function hottestOf(profile, { of, first }) {
	const { self } = profile.allFunctions(), { kind } = profile.func, hottest = [...first], isNameless = f => kind[f] === KIND_NONE || kind[f] === KIND_RARE || profile.others.has(f);
	of.forEach((g, f) => {
		const known = hottest[g], isNone = isNameless(f), wasNone = isNameless(known);
		if (isNone !== wasNone ? wasNone : self[f] > self[known]) hottest[g] = f;
	});
	return hottest;
}

/** The functions of a group. */
function members(of, g) {
	return [...of.keys()].filter(f => of[f] === g);
}

/** Short names of groups by file: the last part of the path, with its directory if another file has the same. */
function shortPaths(names) {
	const last = (path, parts) => path.split('/').slice(-parts).join('/'), files = new Map();
	for (const path of new Set(names)) files.set(last(path, 1), (files.get(last(path, 1)) ?? 0) + 1);
	return names.map(path => last(path, (files.get(last(path, 1)) ?? 0) > 1 ? 2 : 1));
}

/** The most samples that each group without any may have: those of rare functions, which are added up, that may be in it. An image
 * has the sum of its own ones, unless it is not listed. */
function unseenOf(profile, by, { of, first }) {
	const missing = new Float64Array(first.length), listed = new Set(), { self } = profile.allFunctions();
	of.forEach((g, f) => {
		if (by !== 'image') missing[g] += profile.unseen(f);
		else if (!profile.absent.functions[f]) listed.add(g);
	});
	const others = profile.unlisted.reduce((sum, f) => sum + self[f], 0);
	return by === 'image' ? missing.map((_, g) => (listed.has(g) ? 0 : others)) : missing;
}

/** A profile whose functions are groups of those of another one: their trees are made by reshape(). of: the group of each function;
 * hottest: a function of each group; members(g): its functions. */
function mergeFunctions(profile, by) {
	const groups = groupFunctions(profile, by), { of, first, names, isAlone } = groups, hottest = hottestOf(profile, groups);
	const image = first.map(f => profile.func.image[f]), plain = names.map((name, g) => name || profile.imageLabel(image[g]) || profile.noImage);
	const missing = unseenOf(profile, by, groups);
	return Object.assign(Object.create(profile), { of, hottest, plain, short: by === 'file' ? shortPaths(plain) : null, count: first.length, rest: first.length - 1, unseen: g => missing[g],
		func: { name: plain, kind: hottest.map(f => profile.func.kind[f]), image, link: [], mark: [] }, others: new Set(profile.unlisted.map(f => of[f])), late: {},
		members: g => members(of, g), hasSymbol: () => true, address: () => null,
		wantedKey: g => (isAlone[g] ? profile.key[first[g]] : `${by} ${profile.imageLabel(image[g])}${by === 'image' ? '' : `:${names[g]}`}`) });
}

/** The profile with frames of one sort: itself, or one that is made when it is needed first. */
export function withFrames(profile, by) {
	return by === 'function' ? profile : profile.late[`by ${by}`] ??= mergeFunctions(profile, by);
}

/** What a key of the address means: { profile (with the frames that it is of), f (its function there) }; null: nothing. */
export function findKey(profile, key) {
	for (const by of Object.keys(FRAMES)) {
		if (by !== 'function' && !key.startsWith(by + ' ')) continue; // to make groups takes a while
		if (by === 'file' && !profile.files) continue;
		const frames = withFrames(profile, by), f = frames.byKey.get(key);
		if (f !== undefined) return { profile: frames, f };
	}
	return null;
}

/** The functions that a found key means. */
export function functionsOf({ profile, f }) {
	return profile.members?.(f) ?? [f];
}

/** The frame of a profile that a found key means: the group of a function, or the hottest function of a group. -1: none. */
export function frameOf(frames, found) {
	if (!found || found.profile === frames) return found?.f ?? -1;
	const f = found.profile.hottest?.[found.f] ?? found.f;
	return frames.of?.[f] ?? f;
}
