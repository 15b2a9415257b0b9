// SPDX-License-Identifier: GPL-2.0-or-later
// The profile: a tree of functions in preorder, and when the samples of its nodes were taken.

import { KIND_APPLICATION, KINDS } from './color.js';

/** What separates samples, if it was recorded: the parts of head.tasks, in their order. */
export const TASK_PARTS = ['cgroup', 'process', 'thread', 'cpu'];

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
		const path = [];
		for (let i = 0; i < this.n; i++) {
			const d = depth[i];
			this.maxDepth = Math.max(this.maxDepth, d);
			while (path.length > d) this.end[path.pop()] = i;
			this.parent[i] = d ? path[d - 1] : -1;
			path.push(i);
		}
		while (path.length) this.end[path.pop()] = this.n;
		this.sum();
	}

	/** Computes the totals, and the left edge of each node in units of samples. */
	sum() {
		this.total = Float64Array.from(this.self);
		for (let i = this.n - 1; i > 0; i--) this.total[this.parent[i]] += this.total[i];
		this.x = new Float64Array(this.n);
		const next = new Float64Array(this.n);
		for (let i = 1; i < this.n; i++) {
			const p = this.parent[i];
			this.x[i] = this.x[p] + next[p];
			next[p] += this.total[i];
		}
		return this;
	}

	/** The nodes sorted by function: those of f are nodes[starts[f]] to nodes[starts[f + 1] - 1], in their order. */
	byFunction() {
		const shared = this.sorted;
		if (shared.nodes) return shared;
		const { func, n } = this, most = func.reduce((a, b) => Math.max(a, b), 0);
		const starts = new Uint32Array(most + 2), nodes = new Uint32Array(n);
		for (let i = 0; i < n; i++) starts[func[i] + 1]++;
		for (let f = 0; f <= most; f++) starts[f + 1] += starts[f];
		const next = starts.slice();
		for (let i = 0; i < n; i++) nodes[next[func[i]]++] = i;
		return Object.assign(shared, { starts, nodes });
	}

	/** The same nodes with other samples. */
	withSelf(self) {
		const t = Object.assign(Object.create(Tree.prototype), this);
		t.self = self;
		return t.sum();
	}
}

/** Makes trees from paths: nodes are found by parent and function, and sorted at the end. */
class Builder {
	constructor(func) {
		this.func = [func];
		this.self = [0];
		this.children = [new Map()];
	}

	child(parent, func) {
		let node = this.children[parent].get(func);
		if (node === undefined) {
			node = this.func.length;
			this.func.push(func);
			this.self.push(0);
			this.children.push(new Map());
			this.children[parent].set(func, node);
		}
		return node;
	}

	/** The tree, with the children that have the most samples first. Sets this.place: the number of each
	 * node there. Subtrees lighter than least become one node of the function rest, the root's with what was left out. */
	tree(least = 0, rest = 0, leftOut = 0) {
		const n = this.func.length, total = Float64Array.from(this.self);
		const parent = new Int32Array(n).fill(-1);
		for (let i = 0; i < n; i++) for (const c of this.children[i].values()) parent[c] = i;
		for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
		const func = [], depth = [], self = [], stack = [[0, 0]];
		this.place = new Uint32Array(n);
		while (stack.length) {
			const [node, d] = stack.pop();
			if (node < 0) {
				func.push(rest); depth.push(d); self.push(-node);
				continue;
			}
			this.place[node] = func.length;
			func.push(this.func[node]); depth.push(d); self.push(this.self[node]);
			const list = [...this.children[node].values()].sort((a, b) => total[a] - total[b] || b - a);
			const small = list.filter(c => total[c] < least).reduce((sum, c) => sum + total[c], node ? 0 : leftOut);
			if (small) stack.push([-small, d + 1]);
			for (const c of list) if (total[c] >= least) stack.push([c, d + 1]);
		}
		return new Tree(func, depth, self);
	}
}

export class Profile {
	constructor(head, columns) {
		this.head = head;
		this.columns = columns;
		this.func = head.functions;
		this.count = this.func.name.length;
		this.rest = this.count - 1;
		this.tasks = head.tasks || [];
		this.grouped = new Map();
		/** @type {Float64Array | null} */
		this.shedByStep = null;
		this.base = new Tree(columns.func, columns.depth, columns.self);
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

	/** Gives functions that have one name different ones, and each a key of its own for addresses of pages. */
	distinguish() {
		const f = this.func, seen = new Map(), used = new Map();
		this.key = new Array(this.count).fill('');
		this.plain = [...f.name];
		this.byKey = new Map();
		for (let i = 1; i < this.count; i++) {
			const image = this.head.images[f.image[i]];
			const file = image ? image.name ?? image.path.split('/').pop() : '';
			const name = f.name[i] ?? '(no symbol)', same = `${f.image[i]}\n${f.kind[i]}\n${name}`;
			const times = (seen.get(same) || 0) + 1;
			seen.set(same, times);
			if (times > 1) f.name[i] = `${name} ·${times}`;
			const wanted = `${f.kind[i] === KIND_APPLICATION ? 'application ' : ''}${file}:${(f.link[i] ?? name).slice(0, 300)}`;
			let key = wanted, n = used.get(wanted) ?? 1;
			while (this.byKey.has(key)) key = `${wanted}·${++n}`;
			used.set(wanted, n);
			this.key[i] = key;
			this.byKey.set(key, i);
		}
		this.lower = f.name.map(name => name.toLowerCase());
	}

	/** The group that each node's own samples are in: the application (a function), or the image or kind of its
	 * function. */
	groups(t, by) {
		const of = new Uint32Array(t.n), list = this.func[by];
		for (let i = 1; i < t.n; i++) of[i] = list ? list[t.func[i]] : t.depth[i] === 1 ? t.func[i] : of[t.parent[i]];
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
	 * is no window. */
	window(window, mask = null) {
		if (!window && !mask) return Float64Array.from(this.columns.self);
		const { at, step, count, task } = this.columns, self = new Float64Array(this.base.n);
		for (let i = 0; i < at.length; i++)
			if ((!window || (step[i] >= window[0] && step[i] < window[1])) && (!mask || mask[task[i]])) self[at[i]] += count[i];
		return self;
	}

	/** The own samples of each group that has some. Those by image or kind are exact if self, those of each
	 * function, are: it also has what was too small for the tree. */
	sumsOf(t, of, self, by) {
		const sums = new Map();
		if (this.func[by]) this.groupSums(self, by).forEach((k, g) => { if (k) sums.set(g, k); });
		else t.self.forEach((k, i) => { if (i && k) sums.set(of[i], (sums.get(of[i]) || 0) + k); });
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
			this.sumsOf(this.base, this.groups(this.base, by), this.allFunctions().self, by);
		const top = [...sums].sort((a, b) => b[1] - a[1]).slice(0, most).map(e => e[0]), place = new Map(top.map((g, k) => [g, k]));
		const rows = Array.from({ length: top.length + 1 }, () => new Float64Array(this.steps));
		for (let i = 0; i < count.length; i++) rows[place.get(groupOf(i)) ?? top.length][step[i]] += count[i];
		return { groupOf, top, others: sums.size - top.length, rows, sums };
	}

	/** A tree without the functions in hidden: callers call their callees directly. With mergeRecursion,
	 * a function that calls itself is one node. */
	reshape(hidden, mergeRecursion) {
		const t = this.base, b = new Builder(t.func[0]), to = new Uint32Array(t.n);
		const whole = this.columns.self;
		for (let i = 0; i < t.n; i++) {
			const up = i ? to[t.parent[i]] : 0, f = t.func[i];
			const skip = !i || hidden.has(f) || (mergeRecursion && b.func[up] === f);
			to[i] = skip ? up : b.child(up, f);
			b.self[to[i]] += whole[i];
		}
		const tree = b.tree();
		return { tree, map: to.map(node => b.place[node]) };
	}

	/** Sets the samples to 0 of chains that the filter rejects. Returns what is left. */
	choose(self, focus, drop) {
		if (!focus.length && !drop.length) return self;
		const t = this.base, dropped = new Uint8Array(t.n), left = Float64Array.from(self);
		const found = new Uint32Array(t.n), every = 2 ** focus.length - 1;
		for (let i = 0; i < t.n; i++) {
			const p = t.parent[i], k = focus.indexOf(t.func[i]);
			found[i] = (p < 0 ? 0 : found[p]) | (k < 0 ? 0 : 1 << k);
			dropped[i] = (p >= 0 && dropped[p]) || drop.includes(t.func[i]) ? 1 : 0;
			if (dropped[i] || found[i] !== every) left[i] = 0;
		}
		return left;
	}

	/** Self and total of each function, or of each group of functions if a list has them; a sample counts once,
	 * however often the function or group is in its chain. */
	functions(t, groups = null) {
		const of = groups ? i => groups[t.func[i]] : i => t.func[i], room = Math.max(this.count, KINDS.length), self = new Float64Array(room);
		const total = new Float64Array(room), open = new Uint32Array(room), path = [];
		for (let i = 1; i < t.n; i++) {
			if (!t.total[i]) {
				i = t.end[i] - 1;
				continue;
			}
			while (path.length && t.end[path[path.length - 1]] <= i) open[of(path.pop())]--;
			const f = of(i);
			self[f] += t.self[i];
			if (!open[f]++) total[f] += t.total[i];
			path.push(i);
		}
		return { self, total };
	}

	/** The same of the whole profile, also of what was too small for the tree. */
	allFunctions() {
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

/** Reads the data: length of the head, head, columns of little-endian numbers. */
export function decode(buffer) {
	const length = new DataView(buffer).getUint32(0, true);
	const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
	const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }, columns = {};
	if (head.format !== 'oprofile-page-1') throw new Error(`its format is ${head.format}`);
	for (const [name, width, at, count] of head.columns)
		columns[name] = new types[width](buffer, 4 + length + at, count);
	return new Profile(head, columns);
}
