// SPDX-License-Identifier: GPL-2.0-or-later
// What is shown, all of which is in the address, after "#".
import { FRAMES } from './merged.js';
import { TASK_PARTS } from './model.js';

export const VIEWS = {
	overview: 'Overview', flame: 'Flame graph', functions: 'Functions', source: 'Source', diff: 'Difference', quality: 'Quality',
};

/** Groups of functions. */
export const FUNCTION_GROUPS = ['image', 'kind'];
/** What the timeline and Overview add samples up by. */
export const GROUPINGS = ['application', ...FUNCTION_GROUPS, ...TASK_PARTS, 'event'];
/** What has a row in Functions. */
const ROWS = ['function', 'application', ...FUNCTION_GROUPS, ...TASK_PARTS];

/** v view, a and b windows "FROM..TO", f filters "focus:KEY" in a list, who tasks "cgroup:PATH" in a list, fn function, dir direction, z zoom
 * as a path of functions, q search, m what frames of flame graphs are, r what their first row is, g and by what samples and functions are grouped by, col colour, side of a difference whose source is shown, sort, opt options, e event, c the session to compare
 * with, theme. */
const DEFAULTS = {
	v: '', a: '', b: '', f: '', who: '', fn: '', dir: 'down', z: '', q: '', m: 'function', r: '', g: 'application', by: 'function', col: 'kind', side: 'A', sort: 'self', opt: '', e: '', c: '', theme: '',
};

export let state = { ...DEFAULTS };
/** Keys of the address that were not understood. */
export let unknown = [];

function decodePart(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Reads the address. */
export function readState() {
	const next = { ...DEFAULTS };
	unknown = [];
	for (const part of location.hash.slice(1).split('&').filter(Boolean)) {
		const [key, value] = [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)];
		if (part.includes('=') && key in DEFAULTS) next[key] = decodePart(value);
		else unknown.push(part.slice(0, 20));
	}
	if (!(next.v in VIEWS)) next.v = '';
	if (!['down', 'up', 'sandwich'].includes(next.dir)) next.dir = 'down';
	if (!GROUPINGS.includes(next.g)) next.g = 'application';
	if (!ROWS.includes(next.by)) next.by = 'function';
	if (!Object.hasOwn(FRAMES, next.m)) next.m = 'function';
	if (!TASK_PARTS.includes(next.r)) next.r = '';
	if (next.side !== 'B') next.side = 'A';
	if (next.c.includes('/')) next.c = '';
	state = next;
}

function addressOf(s) {
	const parts = Object.keys(DEFAULTS).filter(k => s[k] !== DEFAULTS[k] && s[k] !== '')
		.map(k => `${k}=${encodeURIComponent(s[k]).replace(/%(3A|2F|2C|40|24)/g, decodeURIComponent)}`);
	return '#' + parts.join('&');
}

/** Changes what is shown. A choice is a step of the browser's history; what changes while somebody drags or
 * types is not. */
export function writeState(change, isChoice = true) {
	state = { ...state, ...change };
	const address = addressOf(state);
	if (address === (location.hash || '#')) return;
	history[isChoice ? 'pushState' : 'replaceState'](null, '', address);
}

/** The filters: [{ verb, key }]. */
export function filters() {
	return state.f.split('\n').filter(Boolean).map(text => {
		const at = text.indexOf(':');
		return { verb: text.slice(0, at), key: text.slice(at + 1) };
	}).filter(f => ['focus', 'hide', 'drop'].includes(f.verb));
}

/** The tasks that are chosen: [{ part, value }]. */
export function chosenTasks() {
	return state.who.split('\n').filter(Boolean).map(text => ({ part: text.slice(0, text.indexOf(':')), value: text.slice(text.indexOf(':') + 1) }))
		.filter(c => TASK_PARTS.includes(c.part));
}

export function tasksText(list) {
	return list.map(c => `${c.part}:${c.value}`).join('\n');
}

export function filtersText(list) {
	return list.map(f => `${f.verb}:${f.key}`).join('\n');
}

export function hasOption(name) {
	return state.opt.split(',').includes(name);
}

/** Options, those of the state, with one of them set or not. */
export function optionsWith(name, isSet, options = state.opt) {
	return options.split(',').filter(o => o && o !== name).concat(isSet ? [name] : []).join();
}
