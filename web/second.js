// SPDX-License-Identifier: GPL-2.0-or-later
// Two profiles to be compared: both get the functions and the nodes of each other.
import { KIND_APPLICATION } from './color.js';
import { orderOf, Tree } from './model.js';

/** Numbers of a list, by key. */
export function numbersBy(list, keyOf) {
	const found = new Map();
	for (const i of list) {
		const key = keyOf(i), known = found.get(key);
		if (known) known.push(i);
		else found.set(key, [i]);
	}
	return found;
}

/** The image of a that each image of b is, as opreport finds it: the one with the same path; of those that have no such
 * partner, other builds of one path, in their order; then the only one with the same last part of the path. New ones are
 * added to a. */
export function joinImages(a, b) {
	const of = image => `${image.path}\n${image.name ?? ''}`, plain = image => image.path.replace(/#[0-9a-f]{8}$/, ''), last = image => image.name ?? plain(image).split('/').pop();
	const known = new Map(), to = b.map(() => 0), taken = new Set();
	a.forEach((image, i) => { if (image && !known.has(of(image))) known.set(of(image), i); });
	b.forEach((image, i) => {
		to[i] = (image && known.get(of(image))) || 0;
		if (to[i]) taken.add(to[i]);
	});
	const remaining = () => [...a.keys()].filter(i => a[i] && !taken.has(i)), builds = numbersBy(remaining(), i => plain(a[i]));
	b.forEach((image, i) => {
		if (!image || to[i] || !builds.get(plain(image))?.length) return;
		to[i] = builds.get(plain(image)).shift();
		taken.add(to[i]);
	});
	const left = numbersBy(remaining(), i => last(a[i]));
	const alone = numbersBy([...b.keys()].filter(i => b[i] && !to[i]), i => last(b[i]));
	for (const [name, list] of alone) {
		const partners = left.get(name) ?? [];
		if (list.length === 1 && partners.length === 1) [to[list[0]]] = partners;
		else for (const i of list) to[i] = a.push(b[i]) - 1;
	}
	return to;
}

/** The function of a that each function of b is: the one with the same linkage name in the same image, wherever it is there.
 * Those that share a name are taken in the order of their addresses. New ones are added to a, before the rest. */
function joinFunctions(a, b) {
	const images = joinImages(a.head.images, b.head.images), { func, plain } = a, fields = ['link', 'mark'];
	const key = (p, image, f) => `${image[p.func.image[f]]}\n${p.func.kind[f] === KIND_APPLICATION}\n${p.func.link[f] ?? p.plain[f] ?? `(no symbol) ${p.func.kind[f]}`}`;
	const numbers = p => Array.from({ length: p.count - 2 }, (_, i) => i + 1), place = (p, f) => BigInt(p.address(f) ?? 0);
	const inOrder = (p, list) => (list.length < 2 ? list : list.sort((x, y) => (place(p, x) < place(p, y) ? -1 : place(p, x) > place(p, y) ? 1 : x - y)));
	const own = [...a.head.images.keys()], known = numbersBy(numbers(a), f => key(a, own, f)), to = new Uint32Array(b.count), added = [];
	for (const [name, list] of numbersBy(numbers(b), f => key(b, images, f))) {
		const partners = inOrder(a, known.get(name) ?? []);
		inOrder(b, list).forEach((f, i) => { to[f] = partners[i] ?? a.rest + added.push(f) - 1; });
	}
	to[b.rest] = a.rest + added.length;
	const insert = (list, values) => {
		while (list.length < a.rest) list.push(null);
		list.splice(a.rest, 0, ...values);
	};
	insert(plain, added.map(f => b.plain[f]));
	insert(func.kind, added.map(f => b.func.kind[f]));
	insert(func.image, added.map(f => images[b.func.image[f]]));
	for (const name of fields) insert(func[name], added.map(f => b.func[name][f]));
	func.name = plain;
	return to;
}

/** The tree with the nodes of two trees, whose functions have other numbers: in the order of a, those of b alone after
 * their siblings. { tree, toA, toB }: the node there of each of theirs. */
function joinTrees(a, b, functionsOfA, functionsOfB) {
	const func = [], depth = [], toA = new Uint32Array(a.n), toB = new Uint32Array(b.n);
	const copy = (t, functions, to, i) => {
		for (let k = i; k < t.end[i]; k++) {
			to[k] = func.push(functions[t.func[k]]) - 1;
			depth.push(t.depth[k]);
		}
	};
	const join = (i, k) => {
		const mine = new Map();
		toA[i] = toB[k] = func.push(functionsOfA[a.func[i]]) - 1;
		depth.push(a.depth[i]);
		for (let c = k + 1; c < b.end[k]; c = b.end[c]) mine.set(functionsOfB[b.func[c]], c);
		for (let c = i + 1; c < a.end[i]; c = a.end[c]) {
			const f = functionsOfA[a.func[c]], partner = mine.get(f);
			if (partner === undefined) copy(a, functionsOfA, toA, c);
			else join(c, partner);
			mine.delete(f);
		}
		for (const c of mine.values()) copy(b, functionsOfB, toB, c);
	};
	join(0, 0);
	return { tree: new Tree(Uint32Array.from(func), Uint32Array.from(depth), new Float64Array(func.length)), toA, toB };
}

/** The samples of nodes that have other numbers in a tree of n nodes. */
function moved(self, to, n) {
	const out = new Float64Array(n);
	self.forEach((k, i) => { out[to[i]] += k; });
	return out;
}

/** Gives a profile the nodes of the joined tree. */
export function moveInto(p, tree, to) {
	const { at, step, count, task } = p.columns, nodes = at.map(node => to[node]), order = orderOf(nodes, tree.n);
	const sorted = list => list.map((_, i) => list[order[i]]); // moments are in the order of nodes
	p.columns = { ...p.columns, at: sorted(nodes), step: sorted(step), count: sorted(count), task: sorted(task), self: moved(p.columns.self, to, tree.n) };
	p.base = tree.withSelf(p.columns.self);
	p.zeros = p.zeros.of(tree.n);
}

/** The numbers of all functions by those of b, as numbers by the joined functions. */
export function movedFunctions({ self, total }, to, count) {
	const out = { self: new Float64Array(count), total: new Float64Array(count) };
	to.forEach((f, i) => {
		out.self[f] += self[i];
		out.total[f] += total[i];
	});
	return out;
}

/** Marks of those up to count that are not in a list: what is in the other profile alone. Empty if all that there was is known. */
function absentFrom(list, count, isCut) {
	const absent = new Uint8Array(isCut ? count : 0).fill(1);
	for (const i of list) absent[i] = 0;
	return absent;
}

/** Lets b find the code of functions, which have the numbers of the joined ones, where it is in b itself. */
function keepCode(b, to) {
	const own = Object.assign(Object.create(Object.getPrototypeOf(b)), b), from = new Map([...to].map((f, i) => [f, i]));
	b.hasSymbol = f => own.hasSymbol(from.get(f) ?? 0);
	b.codeOf = f => own.codeOf(from.get(f) ?? 0);
}

/** The files of the joined functions: those that a knows, and then b, which has them by its own functions or, with numbers of a, by these.
 * null unless both have them. */
export function joinFiles(a, b, to = null) {
	const files = a.files && b.files && Array.from({ length: a.count }, (_, f) => a.files[f] ?? '');
	if (files) b.files.forEach((file, f) => { files[to ? to[f] : f] ||= file; });
	return files;
}

/** Joins b to a: afterwards both have the same functions, and trees with the same nodes. */
export function joinProfiles(a, b) {
	const before = a.rest, functionsOfA = Uint32Array.from({ length: a.count }, (_, f) => f), whole = b.allFunctions(), own = a.allFunctions();
	const to = joinFunctions(a, b);
	keepCode(b, to);
	a.count = a.func.name.length;
	a.rest = a.count - 1;
	functionsOfA[before] = a.rest;
	const { tree, toA, toB } = joinTrees(a.base, b.base, functionsOfA, to);
	a.others = b.others = new Set([...a.others, ...[...b.others].map(f => to[f])]);
	a.absent = { functions: absentFrom(functionsOfA, a.count, a.head.others), nodes: absentFrom(toA, tree.n, a.head.hidden) };
	b.absent = { functions: absentFrom(to, a.count, b.head.others), nodes: absentFrom(toB, tree.n, b.head.hidden) };
	moveInto(a, tree, toA);
	moveInto(b, tree, toB);
	a.late = { functions: movedFunctions(own, functionsOfA, a.count) };
	a.grouped = new Map();
	a.distinguish();
	a.files = b.files = joinFiles(a, b, to);
	Object.assign(b, { func: a.func, plain: a.plain, count: a.count, rest: a.rest, grouped: new Map(), addresses: a.addresses, late: { functions: movedFunctions(whole, to, a.count) } });
	return b;
}
