// SPDX-License-Identifier: GPL-2.0-or-later
// What happened in the time of the profile: sessions and boots that began, new builds of programs, and times in which
// nothing was recorded or samples were lost.
import { clock, int, lengthOf, visible } from './fmt.js';

/** The first step in which each image has samples. */
function firstSteps({ columns, base, func, head, steps }) {
	const first = new Array(head.images.length).fill(Infinity), { at, step } = columns;
	for (let i = 0; i < at.length; i++) {
		const image = func.image[base.func[at[i]]];
		if (step[i] < steps) first[image] = Math.min(first[image], step[i]);
	}
	return first;
}

/** Files of one path are told apart by a mark at the end: "#12345678". Those of different file systems are in different
 * containers: none replaces the other. */
function newBuilds(profile) {
	const first = firstSteps(profile), byPath = new Map(), found = [];
	profile.head.images.forEach((image, i) => {
		if (!image || first[i] === Infinity) return;
		const path = (image.name ?? image.path).replace(/#[0-9a-f]{8}$/, '');
		const file = `${image.device ?? ''} ${path}`;
		byPath.set(file, [...byPath.get(file) ?? [], i]);
	});
	for (const [file, images] of byPath) {
		const path = file.slice(file.indexOf(' ') + 1);
		images.sort((a, b) => first[a] - first[b]);
		for (const i of images.slice(1)) {
			const id = profile.head.images[i].build_id;
			found.push({ kind: 'build', step: first[i], end: first[i] + 1,
				text: `new build of ${visible(path.split('/').pop())}${id ? `, build-id ${visible(id).slice(0, 8)}…` : ''}` });
		}
	}
	return found;
}

/** Runs of steps with a value: [[from, to, sum]]. */
function runsOf(values) {
	const runs = [];
	values.forEach((v, i) => {
		const last = runs[runs.length - 1];
		if (!v) return;
		if (last && last[1] === i) {
			last[1]++;
			last[2] += v;
		} else runs.push([i, i + 1, v]);
	});
	return runs;
}

/** Sessions that began or ended, and boots in between, by what the setups of the sessions say. */
function sessionsOf(profile, stepOf) {
	const found = [], sessions = [...profile.head.sessions ?? []].filter(s => Date.parse(s.began)).sort((a, b) => Date.parse(a.began) - Date.parse(b.began));
	const boots = new Map(profile.head.boots);
	sessions.forEach((s, i) => {
		const name = sessions.length > 1 ? ` ${visible(s.name)}` : '', began = stepOf(Date.parse(s.began)), ended = stepOf(Date.parse(s.ended));
		const boot = i && boots.get(s.name) && boots.get(sessions[i - 1].name) && boots.get(s.name) !== boots.get(sessions[i - 1].name);
		if (began > 0) found.push({ kind: boot ? 'boot' : 'session', step: began, end: began + 1, text: `${boot ? 'the machine was rebooted; ' : ''}session${name} began` });
		if (ended >= 0 && i + 1 < sessions.length) found.push({ kind: 'session', step: ended, end: ended + 1, text: `session${name} ended` });
	});
	return found;
}

/** All of these, in the order of time: { kind, step, end, text, when }. */
export function annotationsOf(profile) {
	const s = profile.head.steps;
	if (!s) return [];
	const stepOf = ms => (ms >= s.begin_ms && ms < s.begin_ms + s.count * s.length_ms ? Math.floor((ms - s.begin_ms) / s.length_ms) : -1);
	const gaps = runsOf(s.recorded.slice(0, s.count).map(r => (r ? 0 : 1))), lost = runsOf(s.lost.slice(0, s.count));
	return [...newBuilds(profile), ...sessionsOf(profile, stepOf),
		...gaps.map(([step, end]) => ({ kind: 'gap', step, end, text: `nothing recorded for ${lengthOf((end - step) * s.length_ms)}` })),
		...lost.map(([step, end, n]) => ({ kind: 'lost', step, end, text: `${int(n)} ${n === 1 ? 'sample' : 'samples'} lost` })),
	].sort((a, b) => a.step - b.step).map(a => ({ ...a, when: clock(s.begin_ms + a.step * s.length_ms, s.length_ms * s.count > 86400000) }));
}
