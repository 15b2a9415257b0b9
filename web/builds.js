// SPDX-License-Identifier: GPL-2.0-or-later
// Two windows of one profile to be compared, between which files were rebuilt: the functions of both builds of a file become one.
import { KIND_APPLICATION } from './color.js';
import { joinImages, movedFunctions, moveInto, numbersBy } from './second.js';

/** The images that functions of a window are in; with what they call. */
function imagesIn(p, window) {
	const { total } = window ? p.ofWindow(window).functions : p.allFunctions(), found = new Set();
	total.forEach((k, f) => { if (k) found.add(p.func.image[f]); });
	return found;
}

/** For each image, that of the second window which is the same file, or itself. */
function imagesOfSecond(p, a, b) {
	const { images } = p.head, only = known => images.map((image, i) => (known.has(i) ? image : null)), to = joinImages(only(imagesIn(p, a)), only(imagesIn(p, b)));
	const of = Uint32Array.from(images, (_, i) => i);
	to.forEach((first, i) => { if (first && first < images.length) of[first] = i; });
	return of;
}

/** Which functions are one: those of two images that are one, by their linkage names; those that share a name in the order of their
 * addresses. { of (the number of each function), shown (a function of each: that of the second window), before (that of the first) }. */
function pairFunctions(p, images) {
	const { kind, image, link } = p.func, moved = new Set([...images.keys()].filter(i => images[i] !== i).flatMap(i => [i, images[i]]));
	const named = Array.from({ length: p.count - 2 }, (_, i) => i + 1).filter(f => moved.has(image[f])), keys = new Map(), numbers = new Map(), place = f => BigInt(p.address(f) ?? 0);
	const name = f => (kind[f] === KIND_APPLICATION ? 'application' : `function ${link[f] ?? p.plain[f] ?? `(no symbol) ${kind[f]}`}`);
	for (const list of numbersBy(named, f => `${image[f]}\n${name(f)}`).values()) {
		if (list.length > 1) list.sort((x, y) => (place(x) < place(y) ? -1 : place(x) > place(y) ? 1 : x - y));
		list.forEach((f, i) => keys.set(f, `${images[image[f]]}\n${i}\n${name(f)}`));
	}
	const of = new Uint32Array(p.count), shown = /** @type {number[]} */ ([]), before = /** @type {number[]} */ ([]);
	for (let f = 0; f < p.count; f++) {
		const key = keys.get(f) ?? f, g = of[f] = numbers.get(key) ?? shown.length, isFirst = images[image[f]] !== image[f];
		numbers.set(key, g);
		if (!isFirst || shown[g] === undefined) shown[g] = f;
		if (isFirst || before[g] === undefined) before[g] = f;
	}
	return { of, shown, before };
}

/** Where the code of functions is: that of functions of another profile. */
function codeLike(p, functions) {
	return { hasSymbol: f => p.hasSymbol(functions[f]), address: f => p.address(functions[f]), codeOf: f => p.codeOf(functions[f]) };
}

/** The profile with those functions: its tree has a node for what both builds have. */
function withFunctions(p, { of, shown, before }) {
	const pick = list => shown.map(f => list[f]), { tree, map } = p.reshape(new Set(), false, of, false), { key, byKey } = p.keys();
	const joined = Object.assign(Object.create(p), { plain: pick(p.plain), count: shown.length, rest: shown.length - 1, others: new Set([...p.others].map(f => of[f])), grouped: new Map(),
		func: { ...p.func, name: pick(p.func.name), kind: pick(p.func.kind), image: pick(p.func.image), link: pick(p.func.link), mark: pick(p.func.mark) }, files: p.files && pick(p.files),
		late: { functions: movedFunctions(p.allFunctions(), of, shown.length), keys: { key: pick(key), byKey: new Map([...byKey].map(([k, f]) => [k, of[f]])) } } }, codeLike(p, shown));
	moveInto(joined, tree, map);
	joined.before = Object.assign(Object.create(joined), codeLike(p, before));
	return joined;
}

/** The profile in which two of its windows are compared: itself, unless there are files of which each window has another build.
 * before: that profile with the code of the first window. */
export function withBuilds(p, a, b) {
	const key = `${a} ${b}`, known = p.late.builds;
	if (known?.key === key) return known.profile;
	const images = imagesOfSecond(p, a, b), isSame = images.every((to, i) => to === i);
	p.late.builds = { key, profile: isSame ? p : withFunctions(p, pairFunctions(p, images)) };
	return p.late.builds.profile;
}
