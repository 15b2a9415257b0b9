// SPDX-License-Identifier: GPL-2.0-or-later
// The profile: a tree of functions in preorder, and when the samples of its nodes were taken.

import { KIND_APPLICATION, KINDS } from './color.js';

/** What separates samples, if it was recorded: the parts of head.tasks, in their order. */
export const TASK_PARTS = ['cgroup', 'process', 'thread', 'cpu'];

function mostOf(numbers) {
	let most = 0;
	for (let i = 0; i < numbers.length; i++) if (numbers[i] > most) most = numbers[i];
	return most;
}

/** Makes arrays of n zeros for sums up to most. For large ones, to get new memory from the system takes longer than what is done with
 * it: some are made while nothing else is to be done. */
class Zeros {
	constructor(n, most) {
		this.n = n;
		this.Type = most < 2 ** 32 ? Uint32Array : Float64Array;
		this.spare = /** @type {any[]} */ ([]);
	}

	/** The same of another length. */
	of(n) {
		return Object.assign(new Zeros(n, 0), { Type: this.Type });
	}

	take() {
		return this.spare.pop() ?? new this.Type(this.n);
	}

	/** Makes one if there are fewer than wanted. Returns whether there are enough. */
	prepare(wanted) {
		if (this.spare.length < wanted) this.spare.push(new this.Type(this.n).fill(0)); // to write zeros takes the memory
		return this.spare.length >= wanted;
	}
}

/** The numbers of a list of nodes, which are less than n, in the order of the nodes. */
export function orderOf(nodes, n) {
	const next = new Uint32Array(n + 1), order = new Uint32Array(nodes.length);
	for (let i = 0; i < nodes.length; i++) next[nodes[i] + 1]++;
	for (let i = 0; i < n; i++) next[i + 1] += next[i];
	for (let i = 0; i < nodes.length; i++) order[next[nodes[i]]++] = i;
	return order;
}

/** A tree as parallel arrays; the subtree of node i is [i, end[i]). */
export class Tree {
	constructor(func, depth, self) {
		this.n = func.length;
		this.func = func;
		this.depth = depth;
		this.self = self;
		this.parent = new Int32Array(this.n);
		this.end = new Uint32Array(this.n);
		this.maxDepth = 0;
		this.sorted = {};
		const { n, parent, end } = this, last = [];
		for (let i = 0; i < n; i++) {
			const d = depth[i];
			if (d > this.maxDepth) this.maxDepth = d;
			parent[i] = d ? last[d - 1] : -1;
			last[d] = i;
		}
		for (let i = n - 1; i >= 0; i--) {
			end[i] ||= i + 1;
			if (i && !end[parent[i]]) end[parent[i]] = end[i];
		}
		this.sum();
	}

	/** Computes the totals. */
	sum() {
		const { n, parent } = this, total = new Float64Array(this.self);
		for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
		this.total = total;
		this.left = /** @type {Float64Array | null} */ (null);
		return this;
	}

	/** The left edge of each node in units of samples: only a tree that is drawn needs them. */
	get x() {
		return (this.left ??= this.edges());
	}

	edges() {
		const { n, depth, total } = this, x = new Float64Array(n), next = new Float64Array(this.maxDepth + 2);
		for (let i = 0; i < n; i++) {
			const d = depth[i], left = x[i] = next[d];
			next[d] = left + total[i];
			next[d + 1] = left;
		}
		return x;
	}

	/** The left edge of one node. */
	leftOf(i) {
		const { parent, end, total } = this;
		let left = 0;
		for (; i > 0; i = parent[i])
			for (let k = parent[i] + 1; k < i; k = end[k]) left += total[k];
		return left;
	}

	/** Which nodes, but the root, have no caller of the same function: 1. Together they have all samples with the function in their
	 * chain, each once. */
	outermost() {
		const { n, func, depth, maxDepth, sorted } = this;
		if (sorted.outermost) return sorted.outermost;
		const open = new Uint32Array(mostOf(func) + 1), path = new Uint32Array(maxDepth + 1), found = new Uint8Array(n);
		let deep = 0;
		for (let i = 1; i < n; i++) {
			const f = func[i], d = depth[i];
			while (deep >= d) open[path[deep--]]--;
			found[i] = open[f]++ ? 0 : 1;
			path[deep = d] = f;
		}
		return (sorted.outermost = found);
	}

	/** The nodes sorted by function: those of f are nodes[starts[f]] to nodes[starts[f + 1] - 1], in their order. */
	byFunction() {
		const shared = this.sorted;
		if (shared.nodes) return shared;
		const { func, n } = this, most = mostOf(func);
		const starts = new Uint32Array(most + 2), nodes = new Uint32Array(n);
		for (let i = 0; i < n; i++) starts[func[i] + 1]++;
		for (let f = 0; f <= most; f++) starts[f + 1] += starts[f];
		const next = starts.slice();
		for (let i = 0; i < n; i++) nodes[next[func[i]]++] = i;
		return Object.assign(shared, { starts, nodes });
	}

	/** The same nodes with other samples, and their totals, if they are known. */
	withSelf(self, total = null) {
		const t = Object.assign(Object.create(Tree.prototype), this, { self, total, left: null });
		return total ? t : t.sum();
	}
}

/** Makes trees from paths: nodes are found by parent and function, in one table of numbers of nodes, and sorted at the end. */
export class Builder {
	constructor(func) {
		this.func = [func];
		this.self = [0];
		this.parent = [-1];
		this.table = new Uint32Array(1 << 12); // 0: free, which is the number of the root
	}

	/** Where a node is in the table, or should be. */
	placeOf(parent, func) {
		const { table } = this, mask = table.length - 1;
		let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(func, 0x85ebca77);
		for (h = (h ^ h >>> 15) & mask; table[h] && (this.parent[table[h]] !== parent || this.func[table[h]] !== func);) h = (h + 1) & mask;
		return h;
	}

	/** Makes the table twice as large. */
	grow() {
		this.table = new Uint32Array(2 * this.table.length);
		for (let i = 1; i < this.func.length; i++) this.table[this.placeOf(this.parent[i], this.func[i])] = i;
	}

	child(parent, func) {
		const place = this.placeOf(parent, func), node = this.table[place] || this.func.length;
		if (this.table[place]) return node;
		this.table[place] = node;
		this.func.push(func);
		this.self.push(0);
		this.parent.push(parent);
		if (2 * node > this.table.length) this.grow();
		return node;
	}

	/** The children of node i, those with the most samples first: nodes[starts[i]] to nodes[starts[i + 1] - 1]. */
	children(total) {
		const { parent } = this, n = parent.length, starts = new Uint32Array(n + 1), nodes = new Uint32Array(n - 1);
		for (let i = 1; i < n; i++) starts[parent[i] + 1]++;
		for (let i = 0; i < n; i++) starts[i + 1] += starts[i];
		const next = starts.slice();
		for (let i = 1; i < n; i++) nodes[next[parent[i]]++] = i;
		for (let i = 0; i < n; i++)
			if (starts[i + 1] > starts[i] + 1) nodes.subarray(starts[i], starts[i + 1]).sort((a, b) => total[b] - total[a] || a - b);
		return { starts, nodes };
	}

	/** The tree, with the children that have the most samples first. Sets this.place: the number of each
	 * node there. Subtrees lighter than least become one node of the function rest, the root's with what was left out. */
	tree(least = 0, rest = 0, leftOut = 0) {
		const { parent } = this, n = parent.length, total = Float64Array.from(this.self), func = [], depth = [], self = [];
		for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
		const { starts, nodes } = this.children(total), path = [0], next = [starts[0]], small = [leftOut];
		const add = (f, d, k) => depth.push(d) && self.push(k) && func.push(f) - 1;
		this.place = new Uint32Array(n);
		add(this.func[0], 0, this.self[0]);
		for (let d = 0; d >= 0;) {
			const node = path[d], child = next[d] < starts[node + 1] ? nodes[next[d]++] : 0;
			if (!child) {
				if (small[d]) add(rest, d + 1, small[d]);
				d--;
			} else if (total[child] < least) small[d] += total[child];
			else {
				d++;
				this.place[child] = add(this.func[child], d, this.self[child]);
				path[d] = child;
				next[d] = starts[child];
				small[d] = 0;
			}
		}
		return new Tree(func, depth, self);
	}
}

export class Profile {
	constructor(head, columns) {
		this.head = head;
		this.columns = columns;
		this.addresses = [0, 1, 2, 3, 4, 5, 6, 7].map(k => columns[`address${k}`]);
		this.func = head.functions;
		this.count = this.func.name.length;
		this.rest = this.count - 1;
		this.tasks = head.tasks || [];
		/** The names of containers, by their cgroups. */
		this.containers = new Map(this.tasks.filter(t => t[4]).map(t => [t[0], t[4]]));
		const { first, count } = head.others ?? { first: 0, count: 0 };
		/** Those functions that are sums of rare ones, for which there was no room. */
		this.others = new Set(Array.from({ length: count }, (_, i) => first + i));
		/** Of two profiles: functions and nodes of the other one that this one may have left out. */
		this.absent = { functions: new Uint8Array(0), nodes: new Uint8Array(0) };
		this.grouped = new Map();
		this.late = /** @type {any} */ ({});
		/** @type {Float64Array | null} */
		this.shedByStep = null;
		/** The source file that each function begins in, '': not known; null: a server knows. */
		this.files = head.files ? Array.from({ length: this.count }, (_, f) => head.files[columns.file[f - 1] - 1] ?? '') : null;
		this.base = new Tree(columns.func, columns.depth, columns.self);
		this.zeros = new Zeros(this.base.n, head.samples);
		this.trimSteps();
		this.distinguish();
	}

	/** Drops the steps after the last one that has samples. */
	trimSteps() {
		const s = this.head.steps;
		while (s?.count && !s.to_ms[s.count - 1]) s.count--;
		this.steps = s?.count || 0;
		if (!this.steps) delete this.head.steps;
		else this.span = [Math.min(...s.from_ms.filter(Boolean)), Math.max(...s.to_ms)];
	}

	/** The samples of each step whose chains were shed, as memory or disk ran short; null: not known. */
	get shed() {
		const sampled = this.head.steps?.sampled, { step, count } = this.columns;
		if (this.shedByStep || !sampled) return this.shedByStep || null;
		const left = Float64Array.from(sampled.slice(0, this.steps));
		for (let i = 0; i < step.length; i++) left[step[i]] -= count[i];
		return (this.shedByStep = left.map(n => Math.max(0, n)));
	}

	/** Gives functions of an image that have one name different ones. Most have a name of their own. */
	distinguish() {
		const f = this.func, seen = new Map(), first = new Map(), place = i => `${f.image[i]}\n${f.kind[i]}\n${this.plain[i] ?? '(no symbol)'}`;
		this.plain = [...f.name];
		for (let i = 1; i < this.count; i++) {
			const name = f.name[i] ?? '(no symbol)', other = first.get(name);
			if (other === undefined) {
				first.set(name, i);
				continue;
			}
			if (other) seen.set(place(other), 1);
			first.set(name, 0);
			const times = (seen.get(place(i)) || 0) + 1;
			seen.set(place(i), times);
			if (times > 1) f.name[i] = `${name} ·${times}`;
		}
	}

	/** A key of each function for addresses of pages. */
	get key() {
		return this.keys().key;
	}

	/** The functions by their keys. */
	get byKey() {
		return this.keys().byKey;
	}

	/** What an image is called: "[kernel]", or the last part of its path; '': there is none. */
	imageLabel(i) {
		const image = this.head.images[i];
		return image ? image.name ?? image.path.split('/').pop() : '';
	}

	/** The functions that are sums of rare ones in images that are not listed. */
	get unlisted() {
		return [...this.others].filter(f => !this.func.image[f]);
	}

	/** What is said in place of an image. */
	get noImage() {
		return this.unlisted.length ? '(other images)' : '(no image)';
	}

	/** The key of a function, if it is the only one with that. */
	wantedKey(i) {
		const { link, kind, image } = this.func, name = link[i] ?? this.plain[i] ?? '(no symbol)';
		return `${kind[i] === KIND_APPLICATION ? 'application ' : ''}${this.imageLabel(image[i])}:${name.slice(0, 300)}`;
	}

	/** Makes the keys when one is needed first. */
	keys() {
		const used = new Map(), key = new Array(this.count).fill(''), byKey = new Map();
		if (this.late.keys) return this.late.keys;
		for (let i = 1; i < this.count; i++) {
			const wanted = this.wantedKey(i);
			let own = wanted, n = used.get(wanted) ?? 1;
			while (byKey.has(own)) own = `${wanted}·${++n}`;
			if (n > 1) used.set(wanted, n);
			key[i] = own;
			byKey.set(own, i);
		}
		return (this.late.keys = { key, byKey });
	}

	/** The most samples that a function without any may have, because it may be among the others. */
	unseen(f) {
		return this.absent.functions[f] ? this.head.others.below - 1 : 0;
	}

	/** The same of a node, which may be too small for the tree; with a map, of a node that those of this tree, a list, are in. */
	unseenNode(i, map = null) {
		const { nodes } = this.absent, each = nodes.length ? this.head.hidden.below - 1 : 0;
		if (!each || !map) return nodes[i] ? each : 0;
		if (this.late.absent?.map !== map) {
			const counts = new Map();
			map.forEach((node, k) => { if (nodes[k]) counts.set(node, (counts.get(node) ?? 0) + 1); });
			this.late.absent = { map, counts };
		}
		return each * (this.late.absent.counts.get(i) ?? 0);
	}

	hasSymbol(f) {
		return this.addresses.some(bytes => bytes[f - 1]);
	}

	/** The address of a function as "0x1f2e"; null if it has no symbol. */
	address(f) {
		const next = this.addresses.reduceRight((sum, bytes) => sum << 8n | BigInt(bytes[f - 1] ?? 0), 0n);
		return next ? `0x${(next - 1n).toString(16)}` : null;
	}

	/** Where the code of a function is: { address (null: it has no symbol), image (its path) }. */
	codeOf(f) {
		return { address: this.address(f), image: this.head.images[this.func.image[f]]?.path };
	}

	/** Takes the files of functions from what a server says of them, by image and address; returns them. */
	takeFiles({ images, files }) {
		const known = new Map();
		for (const { path, after, file } of images) {
			const ofImage = known.get(path) ?? known.set(path, new Map()).get(path);
			let at = 0;
			after.forEach((more, i) => ofImage.set(`0x${(at += more).toString(16)}`, file[i]));
		}
		return (this.files = Array.from({ length: this.count }, (_, f) => {
			const { address, image } = this.codeOf(f), ofImage = known.get(image);
			return files[(ofImage?.get(address) ?? 0) - 1] ?? '';
		}));
	}

	/** The names in lower case. */
	get lower() {
		return this.late.lower ??= this.func.name.map(name => name.toLowerCase());
	}

	/** The group that each node's own samples are in: the application (a function), or the image or kind of its
	 * function. */
	groups(t, by) {
		const { n, func, end } = t, of = new Uint32Array(n), list = this.func[by];
		if (list) for (let i = 1; i < n; i++) of[i] = list[func[i]];
		else for (let i = 1; i < n; i = end[i]) of.fill(func[i], i, end[i]);
		return of;
	}

	/** The groups of tasks that differ in a part, such as the CPU: { values (null: of no one), of (the group of each task),
	 * apps (of each group, numbers of functions) }; null if the part was not recorded. */
	taskGroups(by) {
		if (!this.grouped.has(by)) this.grouped.set(by, this.groupTasks(TASK_PARTS.indexOf(by)));
		return this.grouped.get(by);
	}

	groupTasks(part) {
		const values = [...new Set(this.tasks.map(t => t[part]))], of = this.tasks.map(t => values.indexOf(t[part]));
		if (part < 0 || !values.some(v => v !== null)) return null;
		const apps = values.map(() => new Set()), app = this.groups(this.base, 'application'), { at, task } = this.columns;
		for (let i = 0; i < at.length; i++) apps[of[task[i]]].add(app[at[i]]);
		return { values, of, apps };
	}

	/** Which tasks are of all these: [{ part, value }], of one part any. null: all tasks. */
	taskMask(chosen) {
		if (!chosen.length) return null;
		const parts = [...new Set(chosen.map(c => c.part))];
		return this.tasks.map(t => parts.every(p => chosen.some(c => c.part === p && c.value === String(t[TASK_PARTS.indexOf(p)]))));
	}

	/** The samples of each node in steps [from, to), of the tasks in mask; all of them, also those without time, if there
	 * is no window. Not to be changed. */
	window(window, mask = null) {
		if (!window && !mask) return this.columns.self;
		const { at, step, count, task } = this.columns, self = new Float64Array(this.base.n);
		for (let i = 0; i < at.length; i++)
			if ((!window || (step[i] >= window[0] && step[i] < window[1])) && (!mask || mask[task[i]])) self[at[i]] += count[i];
		return self;
	}

	/** A window of the whole tree: { self (as of window()), tree, functions (of that) }. A window has few of the nodes, and only those are
	 * looked at: moments are in the order of nodes, so that a node is done when the first one after its subtree comes. */
	ofWindow(window, mask = null) {
		const { at, step, count, task } = this.columns, { n, func, end, parent, depth, maxDepth } = this.base, isOutermost = this.base.outermost();
		const self = this.zeros.take(), total = this.zeros.take(), path = new Uint32Array(maxDepth + 1), last = at.length;
		const ofSelf = new Float64Array(this.count), ofTotal = new Float64Array(this.count), [from, to] = window ?? [0, Infinity];
		for (let k = 0, deep = -1; k <= last; k++) {
			const node = k < last ? at[k] : n;
			if (k < last && (step[k] < from || step[k] >= to || (mask && !mask[task[k]]))) continue;
			for (; deep >= 0 && node >= end[path[deep]]; deep--) {
				const i = path[deep];
				if (deep) total[path[deep - 1]] += total[i];
				if (i) ofSelf[func[i]] += self[i];
				if (isOutermost[i]) ofTotal[func[i]] += total[i];
			}
			if (k === last) break;
			for (let i = node, d = depth[node]; d > deep; i = parent[i]) path[d--] = i;
			deep = depth[node];
			self[node] += count[k];
			total[node] += count[k];
		}
		return { self, tree: this.base.withSelf(self, total), functions: { self: ofSelf, total: ofTotal } };
	}

	/** The own samples of each group that has some. Those by image or kind are exact if self, those of each
	 * function, are: it also has what was too small for the tree. */
	sumsOf(t, self, by) {
		const sums = new Map(), { n, func, end, total } = t;
		if (this.func[by]) this.groupSums(self, by).forEach((k, g) => { if (k) sums.set(g, k); });
		else for (let i = 1; i < n; i = end[i]) if (total[i]) sums.set(func[i], (sums.get(func[i]) || 0) + total[i]);
		return sums;
	}

	/** The group of each moment, as a function of its number. */
	groupsOfMoments(by) {
		const tasks = this.taskGroups(by), { at, task } = this.columns, of = tasks ? tasks.of : this.groups(this.base, by);
		return tasks ? i => of[task[i]] : i => of[at[i]];
	}

	/** The samples of each group of tasks, of the moments in view. */
	taskSums(by, isIn) {
		const sums = new Map(), groupOf = this.groupsOfMoments(by), { count } = this.columns;
		for (let i = 0; i < count.length; i++) if (isIn(i)) sums.set(groupOf(i), (sums.get(groupOf(i)) || 0) + count[i]);
		return sums;
	}

	/** Samples of each group in each step: the first ones, and all others together. */
	series(most, by) {
		const { step, count } = this.columns, groupOf = this.groupsOfMoments(by);
		const sums = this.taskGroups(by) ? this.taskSums(by, () => true) :
			this.sumsOf(this.base, this.func[by] ? this.allFunctions().self : null, by);
		const top = [...sums].sort((a, b) => b[1] - a[1]).slice(0, most).map(e => e[0]), place = new Map(top.map((g, k) => [g, k]));
		const rows = Array.from({ length: top.length + 1 }, () => new Float64Array(this.steps));
		for (let i = 0; i < count.length; i++) rows[place.get(groupOf(i)) ?? top.length][step[i]] += count[i];
		return { groupOf, top, others: sums.size - top.length, rows, sums };
	}

	/** A tree without the functions in hidden: callers call their callees directly. With mergeRecursion,
	 * a function that calls itself is one node. With groups, of functions, these are called instead, and functions of one that
	 * call each other are one node, unless they are not to be merged. */
	reshape(hidden, mergeRecursion, groups = null, mergeGroups = true) {
		const t = this.base, b = new Builder(t.func[0]), to = new Uint32Array(t.n);
		const whole = this.columns.self, isMerged = mergeRecursion || (groups && mergeGroups);
		for (let i = 0; i < t.n; i++) {
			const up = i ? to[t.parent[i]] : 0, f = groups ? groups[t.func[i]] : t.func[i];
			const skip = !i || hidden.has(t.func[i]) || (isMerged && b.func[up] === f);
			to[i] = skip ? up : b.child(up, f);
			b.self[to[i]] += whole[i];
		}
		const tree = b.tree();
		return { tree, map: to.map(node => b.place[node]) };
	}

	/** Sets the samples to 0 of chains that the filter rejects: those without a function of each list in focus, and those with one
	 * in drop. Returns what is left. */
	choose(self, focus, drop) {
		if (!focus.length && !drop.length) return self;
		const t = this.base, dropped = new Uint8Array(t.n), left = Float64Array.from(self), isDropped = new Uint8Array(this.count);
		const found = new Uint32Array(t.n), bits = new Uint32Array(this.count), every = 2 ** focus.length - 1;
		focus.forEach((list, k) => { for (const f of list) bits[f] |= 1 << k; });
		for (const f of drop) isDropped[f] = 1;
		for (let i = 0; i < t.n; i++) {
			const p = t.parent[i], f = t.func[i];
			found[i] = (p < 0 ? 0 : found[p]) | bits[f];
			dropped[i] = (p >= 0 && dropped[p]) || isDropped[f] ? 1 : 0;
			if (dropped[i] || found[i] !== every) left[i] = 0;
		}
		return left;
	}

	/** Self and total of each function, or of each group of functions if a list has them; a sample counts once,
	 * however often the function or group is in its chain. */
	functions(t, groups = null) {
		const room = Math.max(this.count, KINDS.length), self = new Float64Array(room), total = new Float64Array(room);
		const { n, func, end, depth, total: totals, self: own } = t, isOutermost = groups ? null : t.outermost();
		for (let i = 1; isOutermost && i < n; i++) {
			if (totals[i]) {
				self[func[i]] += own[i];
				if (isOutermost[i]) total[func[i]] += totals[i];
			} else i = end[i] - 1;
		}
		if (isOutermost) return { self, total };
		const of = Uint32Array.from(func, f => groups[f]), open = new Uint32Array(room), path = new Uint32Array(t.maxDepth + 1);
		let deep = 0;
		for (let i = 1; i < n; i++) {
			if (!totals[i]) {
				i = end[i] - 1;
				continue;
			}
			const f = of[i], d = depth[i];
			while (deep >= d) open[path[deep--]]--;
			self[f] += own[i];
			if (!open[f]++) total[f] += totals[i];
			path[deep = d] = f;
		}
		return { self, total };
	}

	/** The same of the whole profile, also of what was too small for the tree. */
	allFunctions() {
		return this.late.functions ??= this.makeFunctions();
	}

	makeFunctions() {
		const { func_self: self, func_total: total } = this.columns, all = this.functions(this.base);
		for (let i = 0; i < self.length; i++) {
			all.self[i + 1] = self[i];
			all.total[i + 1] = total[i];
		}
		if (self.length) all.self[this.rest] = all.total[this.rest] = 0;
		return all;
	}

	/** Own samples of each group of functions, of those of each function: a list by group. */
	groupSums(self, by) {
		const sums = new Float64Array(Math.max(this.count, KINDS.length));
		for (let f = 1; f < this.count; f++) sums[this.func[by][f]] += self[f];
		return sums;
	}

	/** The functions that call a function, those with the most samples first: [[function, samples]]. A recursion is not its own
	 * caller. */
	callersOf(t, f) {
		const sums = new Map();
		for (let i = 1; i < t.n;) {
			if (t.func[i] !== f || !t.total[i]) {
				i++;
				continue;
			}
			const by = t.func[t.parent[i]];
			sums.set(by, (sums.get(by) ?? 0) + t.total[i]);
			i = t.end[i];
		}
		return [...sums].sort((a, b) => b[1] - a[1]);
	}

	/** The functions whose name has the text or matches /expression/, and the samples with at least one of
	 * them in their chain. */
	search(t, text) {
		const hit = new Uint8Array(this.count), slashes = /^\/(.*)\/(i?)$/.exec(text);
		const low = text.toLowerCase();
		let functions = 0, samples = 0, expression = null;
		try {
			expression = slashes ? new RegExp(slashes[1], slashes[2]) : null;
		} catch (e) {
			return { error: String(e.message).replace(/^Invalid regular expression: /, '') };
		}
		for (let f = 1; f < this.rest; f++) {
			if (!(expression ? expression.test(this.func.name[f]) : this.lower[f].includes(low))) continue;
			hit[f] = 1;
			functions++;
		}
		const nodes = [];
		for (let i = 1; i < t.n;) {
			if (!hit[t.func[i]] || !t.total[i]) {
				i++;
				continue;
			}
			samples += t.total[i];
			nodes.push(i);
			i = t.end[i];
		}
		return { hit, functions, samples, nodes };
	}

	/** The tree of callers of these nodes, given with their samples, and what was left out as too small. */
	callers(t, root, nodes, samples, least, leftOut = 0) {
		const b = new Builder(root);
		for (let k = 0; k < nodes.length; k++) {
			let at = 0;
			for (let i = nodes[k]; i > 0; i = t.parent[i]) at = b.child(at, t.func[i]);
			b.self[at] += samples[k];
		}
		return b.tree(least, this.rest, leftOut);
	}

	/** The tree from functions with own samples to their callers. The callers of a function that is not shown are not
	 * looked at. */
	bottomUp(t, least) {
		const nodes = [], samples = [], own = new Float64Array(this.count);
		let leftOut = 0;
		for (let i = 1; i < t.n; i++) own[t.func[i]] += t.self[i];
		for (let i = 1; i < t.n; i++) {
			if (!t.self[i]) continue;
			if (own[t.func[i]] < least) leftOut += t.self[i];
			else {
				nodes.push(i);
				samples.push(t.self[i]);
			}
		}
		return this.callers(t, 0, nodes, samples, least, leftOut);
	}

	/** Callers and callees of function f, from the outermost f of each chain on. */
	sandwich(t, f, least) {
		const parents = [], samples = [], down = new Builder(f), to = new Int32Array(t.n).fill(-1);
		let total = 0;
		for (let i = 1; i < t.n;) {
			if (t.func[i] !== f || !t.total[i]) {
				i++;
				continue;
			}
			parents.push(t.parent[i]);
			samples.push(t.total[i]);
			total += t.total[i];
			for (let k = i; k < t.end[i]; k++) {
				to[k] = k === i ? 0 : down.child(to[t.parent[k]], t.func[k]);
				down.self[to[k]] += t.self[k];
			}
			i = t.end[i];
		}
		return { total, callers: this.callers(t, f, parents, samples, least), callees: down.tree(least, this.rest) };
	}
}

/** Sets the nodes of the moments, at, and the samples of each node, self, which are written as differences. */
function placeMoments(columns) {
	const { after, count, untimed } = columns, at = new Uint32Array(after.length), self = Float64Array.from(untimed);
	let node = 0;
	for (let i = 0; i < after.length; i++) {
		node += after[i];
		at[i] = node;
		self[node] += count[i];
	}
	return Object.assign(columns, { at, self });
}

/** Reads the data: length of the head, head, columns of little-endian numbers. */
export function decode(buffer) {
	const length = new DataView(buffer).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
	const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }, columns = {};
	if (head.format !== 'oprofile-page-2') throw new Error(`its format is ${head.format}`);
	for (const [name, width, at, count] of head.columns)
		columns[name] = new types[width](buffer, 4 + length + at, count);
	head.functions.name = head.functions.names.filter((_, i) => i % 2 === 0);
	head.functions.link = head.functions.names.filter((_, i) => i % 2);
	return new Profile(head, placeMoments(columns));
}
