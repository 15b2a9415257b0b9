// SPDX-License-Identifier: GPL-2.0-or-later
// What is shown, for other programs: folded stacks, pprof's format, tables.
import { visible } from './fmt.js';
import { wilson } from './statistics.js';
import { KIND_APPLICATION, KIND_CUT, KIND_REST } from './color.js';
import { functionRows, groupName, imagePath } from './views.js';

/** The name of a function without the mark that tells it from others of its name. */
function plainName(profile, f) {
	return visible(profile.plain[f]);
}

/** The name of a function as opreport has it in folded stacks: code without a symbol is its image. */
function foldedName(profile, f) {
	const { kind, image, mark } = profile.func, isFunction = ![KIND_APPLICATION, KIND_CUT, KIND_REST].includes(kind[f]);
	const file = isFunction && !profile.hasSymbol(f) ? groupName(profile, 'image', image[f]) : '';
	return (!file ? plainName(profile, f) : file[0] === '[' ? file : `[${file}]`).replace(/;/g, ':') + (mark[f] ?? '');
}

/** Calls each(functions, samples) for each node with samples of its own; the outermost function is first. */
function eachChain(tree, each) {
	const path = [];
	for (let i = 1; i < tree.n; i++) {
		path.length = tree.depth[i] - 1;
		path.push(tree.func[i]);
		if (tree.self[i]) each(path, tree.self[i]);
	}
}

/** Folded stacks, as opreport --folded prints them: equal names are one. */
export function foldedOf(page) {
	const names = [], sums = new Map(), part = f => (names[f] ??= foldedName(page.profile, f));
	eachChain(page.graph, (path, samples) => {
		const text = path.map(part).join(';');
		sums.set(text, (sums.get(text) || 0) + samples);
	});
	return [...sums].map(([text, samples]) => `${text} ${samples}\n`).sort().join('');
}

/** A message of protocol buffers: each field is a number and a whole number (or a list of them), a text or a
 * message. */
class Message {
	constructor() {
		this.bytes = [];
	}

	varint(value) {
		let v = BigInt(value);
		for (; v > 127n; v >>= 7n) this.bytes.push(Number(v & 127n) | 128);
		this.bytes.push(Number(v));
		return this;
	}

	number(field, value) {
		return this.varint(field << 3).varint(value);
	}

	block(field, bytes) {
		this.varint(field << 3 | 2).varint(bytes.length);
		for (const b of bytes) this.bytes.push(b);
		return this;
	}

	numbers(field, list) {
		const all = new Message();
		for (const value of list) all.varint(value);
		return this.block(field, all.bytes);
	}

	message(field, ...numbers) {
		const m = new Message();
		for (const [f, value] of numbers) m.number(f, value);
		return this.block(field, m.bytes);
	}
}

/** Profile of github.com/google/pprof (proto/profile.proto): samples, and CPU time if the event is the clock. A
 * location and a function have the number of the page's function, a mapping that of its image. */
export function pprofOf(page) {
	const { profile } = page, { head, func } = profile, m = new Message(), texts = new Map([['', 0]]);
	const text = s => texts.get(s) ?? (texts.set(s, texts.size), texts.size - 1), used = new Set();
	m.message(1, [1, text('samples')], [2, text('count')]);
	if (head.hz) m.message(1, [1, text('cpu')], [2, text('nanoseconds')]);
	eachChain(page.tree, (path, samples) => {
		const values = head.hz ? [samples, Math.round(samples * 1e9 / head.hz)] : [samples];
		for (const f of path) used.add(f);
		m.block(2, new Message().numbers(1, [...path].reverse()).numbers(2, values).bytes);
	});
	const images = new Set([...used].map(f => func.image[f]).filter(Boolean));
	for (const i of images)
		m.message(3, [1, i], [5, text(visible(head.images[i].path))], [6, text(head.images[i].build_id ?? '')], [7, 1]);
	for (const f of used) {
		const line = new Message().number(1, f).bytes;
		m.block(4, new Message().number(1, f).number(2, func.image[f]).number(3, profile.address(f) ?? 0).block(4, line).bytes);
		m.message(5, [1, f], [2, text(plainName(profile, f))], [3, text(func.link[f] ?? plainName(profile, f))]);
	}
	for (const s of texts.keys()) m.block(6, new TextEncoder().encode(s));
	if (head.steps) m.number(9, BigInt(Math.round(profile.span[0])) * 1000000n);
	return new Uint8Array(m.bytes);
}

function sortedRows(page) {
	return functionRows(page).sort((a, b) => b.self - a.self);
}

/** All functions as comma-separated values, also those that a search does not find. */
export function csvOf(page) {
	const quote = s => `"${(/^[=+\-@\t\r]/.test(s) ? "'" : '') + s.replace(/"/g, '""')}"`;
	const lines = sortedRows(page).map(r => `${r.self},${r.total},${quote(plainName(page.profile, r.f))},${quote(imagePath(page.profile, r.f))}`);
	return 'self,total,function,image\n' + lines.join('\n') + '\n';
}

/** The same functions as JSON, with the interval of their own share, in percent. */
export function jsonOf(page) {
	const { head, func } = page.profile, functions = sortedRows(page).map(r => {
		const name = plainName(page.profile, r.f);
		const [low, high] = wilson(r.self, page.n, page.blocks.ofFunction(r.f));
		return { symbol: name, linkage_name: func.link[r.f] ?? name, image: imagePath(page.profile, r.f), self: r.self, children: r.total,
			percent: 100 * r.self / page.n, percent_from: 100 * low, percent_to: 100 * high };
	});
	return JSON.stringify({ event: head.event, samples: page.n, lost: page.lost, functions }, null, 1) + '\n';
}
