// SPDX-License-Identifier: GPL-2.0-or-later
// Flame graphs whose first row is not of applications: threads, processes, cgroups or CPUs, below which are the applications of each.
import { KIND_APPLICATION } from './color.js';
import { Builder, orderOf } from './model.js';

/** The frames of a profile, and after them one for each group of tasks that differ in a part: its names are given. firstGroup: the
 * number of the first of these. Functions are those of the profile. */
export function withGroups(frames, part, names) {
	const { values } = frames.taskGroups(part), firstGroup = frames.count, { func } = frames;
	const add = (list, more) => [...Array.from({ length: firstGroup }, (_, f) => list[f]), ...more];
	const rooted = Object.assign(Object.create(frames), { firstGroup, part, values, plain: add(frames.plain, names), short: frames.short && add(frames.short, names),
		func: { ...func, name: add(func.name, names), kind: add(func.kind, names.map(() => KIND_APPLICATION)), image: add(func.image, names.map(() => 0)) } });
	return Object.defineProperty(rooted, 'key', { value: add(frames.key, values.map(value => `${part} ${value}`)) });
}

/** The tree of a view of a profile in which chains are below the frame of their group of tasks; isIn: whether a moment is in the view. */
export function splitByGroup(profile, { tree, map }, { part, firstGroup }, isIn) {
	const { of, values } = profile.taskGroups(part), { at, count, task } = profile.columns, b = new Builder(tree.func[0]);
	const groups = Uint32Array.from(task, t => of[t]), to = new Uint32Array(tree.n), isOf = new Int32Array(tree.n).fill(-1), missing = [];
	for (const k of orderOf(groups, values.length)) {
		if (!isIn(k)) continue;
		let node = map ? map[at[k]] : at[k];
		for (missing.length = 0; node && isOf[node] !== groups[k]; node = tree.parent[node]) missing.push(node);
		let place = node ? to[node] : b.child(0, firstGroup + groups[k]);
		while (missing.length) {
			node = missing.pop();
			place = to[node] = b.child(place, tree.func[node]);
			isOf[node] = groups[k];
		}
		b.self[place] += count[k];
	}
	return b.tree();
}
