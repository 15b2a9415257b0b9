// SPDX-License-Identifier: GPL-2.0-or-later
// The views that are tables and cards. Each is given the page, a struct of what app.js computes:
// { profile, palette, self (of the window), n (samples), total, functions, B, ... }.
import { amount, count, el, int, lengthOf, pct, shorten, styled, visible } from './fmt.js';
import { compareShares, independent, largestSure, wilson } from './statistics.js';
import { KIND_NONE, KIND_CUT, KIND_RARE, KIND_REST, KINDS } from './color.js';
import { TASK_PARTS } from './model.js';
import { FUNCTION_GROUPS, GROUPINGS } from './state.js';
import { Table } from './table.js';
import { spansOf } from './timeline.js';

/** The name of a function, as long as there is room for. */
export function fullName(profile, f) {
	return visible(profile.func.name[f]);
}

export function shortName(profile, f) {
	const name = fullName(profile, f), piece = profile.func.kind[f] === KIND_NONE && /\+(0x[0-9a-f]+)\]/.exec(name);
	return profile.short ? visible(profile.short[f]) : piece ? piece[1] : shorten(name);
}

export function imagePath(profile, f) {
	return visible(profile.head.images[profile.func.image[f]]?.path ?? '');
}

export function imageName(profile, f) {
	return visible(profile.head.images[profile.func.image[f]]?.name ?? '') || imagePath(profile, f).split('/').pop();
}

/** "34.4 % (33.7 to 35.0)" */
export function shareText(k, n, noise) {
	const [low, high] = wilson(k, n, noise);
	if (!k) return `0 % (to ${pct(high)})`;
	return `${pct(k / n)} % (${pct(low)} to ${pct(high)})`;
}

/** Half of the interval: "± 0.27". */
export function plusMinus(k, n, noise) {
	const [low, high] = wilson(k, n, noise);
	return `± ${pct((high - low) / 2)}`;
}

export function swatch(colour) {
	return styled('i', { background: colour }, { class: 'swatch' });
}

function newBar(cell) {
	cell.append(el('div', { class: 'bar' }, el('u')));
}

function fillBar(bar, k, page, most, noise) {
	const [low, high] = wilson(k, page.n, noise), s = bar.style;
	s.setProperty('--v', k / page.n / most * 100 + '%');
	s.setProperty('--lo', low / most * 100 + '%');
	s.setProperty('--hi', Math.min(1, high / most) * 100 + '%');
	bar.classList.toggle('few', k < 5);
	bar.firstChild.hidden = !k;
}

function isShown(profile, f) {
	const kind = profile.func.kind[f];
	return kind !== 0 && kind !== KIND_CUT && f !== profile.rest;
}

/** Where intervals come from. */
function noiseText(head, ...blocks) {
	const used = Math.min(...blocks.map(b => b.used)), alone = `Intervals at 95 %, as if ${head.unit ? 'waits' : 'samples'} were independent`;
	if (head.session_count > 1) return `${alone}: those of opreport --errors are measured between the sessions.`;
	return used ? `Intervals at 95 %: how much counts vary is measured between ${used} parts of the time.` :
		`${alone}: less than 8 slices of time show no more.`;
}

/** What shares do not have, of a tree that was too large for the page; alsoWhole: these do not have it in the whole
 * profile, either. */
function missingText({ profile: { head }, isPart }, alsoWhole = '') {
	const { hidden } = head;
	if (!hidden || (!isPart && !alsoWhole)) return '';
	return `${isPart ? 'shares' : alsoWhole} of what is in chains of ${head.unit ? 'less' : 'fewer'} than ${amount(head, hidden.below)} are missing${isPart ? ' in this window' : ''}`;
}

/** What is said of rare functions that have no rows of their own. */
function othersText({ profile: { head }, isPart }) {
	const { others } = head;
	return others && !isPart ? `; ${int(others.functions)} more, each in less than ${amount(head, others.below)}, are added up` : '';
}

/** An event, by its key, as people write it. */
export function eventName(head, key) {
	return visible(head.event_names?.[head.events.indexOf(key)] ?? key);
}

/** The name of a container if the cgroup is one's, else the path. */
export function cgroupName(profile, path) {
	return visible(profile.containers.get(path) ?? path);
}

/** The name of a group of tasks: "CPU 3", or "1234 cc1plus" of a process or thread of one application. */
function taskName(profile, by, group) {
	const { values, apps } = profile.taskGroups(by), value = values[group];
	if (value === null && profile.head.other_tasks) return `(${int(profile.head.other_tasks)} other${profile.head.other_tasks === 1 ? '' : 's'})`;
	if (value === null) return `(no ${by})`;
	if (by === 'cpu') return `CPU ${value}`;
	return by === 'cgroup' ? cgroupName(profile, value) : [value, ...[...apps[group]].slice(0, 2).map(f => fullName(profile, f))].join(' ') + (apps[group].size > 2 ? ' …' : '');
}

/** The name of a group, of one of the groupings. */
export function groupName(profile, by, group) {
	if (by === 'application') return fullName(profile, group);
	if (by === 'kind') return KINDS[group];
	if (TASK_PARTS.includes(by)) return taskName(profile, by, group);
	const image = profile.head.images[group];
	return image ? visible(image.name ?? image.path.split('/').pop()) : profile.noImage;
}

/** The names of groups, each with its directory where another of them has the same name. */
export function groupNames(profile, by, groups) {
	const names = groups.map(g => groupName(profile, by, g)), count = new Map();
	for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
	return names.map((name, i) => {
		const path = by === 'application' ? imagePath(profile, groups[i]) : by === 'image' ? visible(profile.head.images[groups[i]]?.path ?? '') : '';
		return (count.get(name) ?? 0) > 1 && path.startsWith('/') ? `${name} · ${path.slice(0, path.lastIndexOf('/')) || '/'}` : name;
	});
}

// --- functions ---

let functionTable = null, functionPage = null, columnsShown = '';

/** The samples that another event has in the function of a row. */
function eventSamples(r, i) {
	return r.f > 0 ? functionPage.events[i].of(r.f) : r.ofEvents?.[i] ?? 0;
}

/** A column for each other event: the share of its samples. */
function eventColumns() {
	return functionPage.events.map(({ key }, i) => ({ id: `event ${key}`, title: `${eventName(functionPage.profile.head, key)} %`, width: `${Math.min(180, 44 + 9 * key.length)}px`, cls: 'right', falls: true,
		key: r => eventSamples(r, i),
		fill: (c, r) => {
			const { n, profile } = functionPage.events[i], k = eventSamples(r, i);
			c.textContent = n ? pct(k / n) : '–';
			c.title = `${count(profile.head, k)} of ${amount(profile.head, n)}`;
		} }));
}

/** The rows of functions that only other events have samples in. */
function rowsOfEvents(page) {
	const rows = new Map();
	page.events.forEach(({ profile, self }, i) => {
		for (let f = 1; f < profile.count; f++) {
			const key = profile.key[f];
			if (!self[f] || !isShown(profile, f) || page.profile.byKey.has(key)) continue;
			if (!rows.has(key))
				rows.set(key, { f: -1, self: 0, total: 0, name: fullName(profile, f), image: imageName(profile, f), ofEvents: {}, noise: () => independent(page.profile.head) });
			rows.get(key).ofEvents[i] = self[f];
		}
	});
	return [...rows.values()];
}

function functionColumns() {
	const share = (c, r) => {
		c.replaceChildren(pct(r.self / functionPage.n), el('small', {}, ` ${plusMinus(r.self, functionPage.n, r.noise())}`));
	};
	return [
		{ id: 'self', title: 'Self %', width: '64px', narrow: '92px', cls: 'right', falls: true, key: r => r.self,
			fill: share },
		{ id: 'bar', title: '95 % interval', width: '190px', falls: true, key: r => r.self, init: newBar,
			fill: (c, r) => {
				const noise = r.noise();
				fillBar(c.firstChild, r.self, functionPage, functionPage.most, noise);
				c.title = shareText(r.self, functionPage.n, noise);
			} },
		{ id: 'total', title: 'Total %', width: '66px', narrow: '54px', cls: 'right', falls: true, key: r => r.total,
			fill: (c, r) => {
				c.textContent = pct(r.total / functionPage.n);
				c.title = r.f < 0 ? '' : shareText(r.total, functionPage.n, functionPage.blocks.ofTotal(r.f));
			} },
		{ id: 'samples', title: functionPage.profile.head.unit ? 'Off the CPU' : 'Samples', width: '80px', cls: 'right', falls: true, key: r => r.self,
			fill: (c, r) => { c.textContent = count(functionPage.profile.head, r.self); } },
		...eventColumns(),
		{ id: 'name', title: 'Function', width: 'minmax(0,1fr)', narrow: 'minmax(0,1fr)', key: r => r.name,
			fill: (c, r) => { c.textContent = r.name; c.title = r.name; } },
		{ id: 'image', title: 'Image', width: 'minmax(90px,190px)', narrow: '72px', cls: 'dim', key: r => r.image,
			fill: (c, r) => { c.textContent = r.image; c.title = r.f < 0 ? '' : imagePath(functionPage.profile, r.f); } },
	];
}

/** The rows of functions. */
export function functionRows(page) {
	const { profile, functions } = page, rows = [];
	for (let f = 1; f < profile.count; f++)
		if (isShown(profile, f) && functions.total[f])
			rows.push(new FunctionRow(page, f, functions.self[f], functions.total[f]));
	return rows;
}

/** A row, whose names are made when they are shown or compared. */
class FunctionRow {
	constructor(page, f, self, total) {
		this.page = page;
		this.f = f;
		this.self = self;
		this.total = total;
	}

	get name() {
		return fullName(this.page.profile, this.f);
	}

	get image() {
		return imageName(this.page.profile, this.f);
	}

	noise() {
		return this.page.blocks.ofFunction(this.f);
	}
}

/** The rows of groups of chains: each sample is of one. */
function chainGroupRows(page, by) {
	const { sums, noise } = groupsInView(page, by), groups = [...sums.keys()], names = groupNames(page.profile, by, groups);
	return groups.map((g, i) => ({ f: -1, self: sums.get(g), total: sums.get(g), name: names[i], image: '', noise: () => noise(g) }));
}

/** The row of the rare functions in images that are not listed, if they have samples. Those with any of them in their chain are at least so many. */
function unlistedRows({ profile, functions }) {
	const rare = profile.unlisted, self = rare.reduce((sum, f) => sum + functions.self[f], 0), total = rare.reduce((most, f) => Math.max(most, functions.total[f]), self);
	return total ? [{ f: -1, self, total, name: profile.noImage, image: '', noise: () => independent(profile.head) }] : [];
}

/** The rows of groups of functions: own samples, and those with any function of the group in their chain. */
function groupRows(page, by) {
	const { profile, tree, blocks } = page, of = profile.func[by], { total } = profile.functions(tree, of), rows = /** @type {any[]} */ (by === 'image' ? unlistedRows(page) : []);
	const self = profile.groupSums(page.functions.self, by);
	const nodes = group => [...tree.func.keys()].filter(i => of[tree.func[i]] === group).map(i => [i, i + 1]);
	for (let g = 0; g < total.length; g++) {
		const isGroup = by === 'image' ? g : g && g !== KIND_CUT;
		if (isGroup && (total[g] || self[g]))
			rows.push({ f: -1, self: self[g], total: Math.max(self[g], total[g]), name: groupName(profile, by, g), image: '', noise: () => blocks.remember(`${by}${g}`, () => nodes(g)) });
	}
	return rows;
}

export function showFunctions(page, host, note) {
	const isGrouped = FUNCTION_GROUPS.includes(page.by), { profile } = page;
	const rows = /** @type {any[]} */ (!hasGrouping(profile, page.by) ? [] : isGrouped ? groupRows(page, page.by) : page.by !== 'function' ?
		chainGroupRows(page, page.by) : [...functionRows(page).filter(r => !page.found || page.found.hit[r.f]), ...page.found ? [] : rowsOfEvents(page)]);
	const missing = missingText(page, isGrouped ? 'totals' : '');
	functionPage = page;
	const least = Float64Array.from(rows, r => r.self).sort()[Math.max(0, rows.length - 20)];
	const hottest = rows.filter(r => r.self && r.self >= least).sort((a, b) => b.self - a.self).slice(0, 20); // others may be as hot as the last
	page.most = hottest.reduce((most, r) => Math.max(most, wilson(r.self, page.n, r.noise())[1]), 0) || 1;
	const columns = page.events.map(e => e.key).join('\n');
	if (columns !== columnsShown) {
		host.replaceChildren();
		functionTable = null;
		columnsShown = columns;
	}
	functionTable ||= new Table(host, functionColumns(), { label: 'Functions', by: page.sort,
		onOpen: r => { if (r.f > 0) functionPage.open(r.f); }, onPick: r => { if (r.f > 0) functionPage.pick(r.f); }, onSort: id => functionPage.sorted(id) });
	functionTable.set(rows);
	if (!hasGrouping(profile, page.by)) return note.replaceChildren(showMissing(page, page.by));
	const events = page.events.length ? el('span', { class: 'wide' }, ` Self, total and samples are of ${eventName(profile.head, profile.head.event_key)}; the other columns of each event alone.`) : '';
	note.replaceChildren(`${int(rows.length)} ${PLURALS[page.by]}${missing && '; ' + missing}${page.by === 'function' ? othersText(page) : ''}.`, events, ` ${noiseText(profile.head, page.blocks)}`);
}

// --- overview ---

/** A bar for each number, from where to where spans says, if that is given. */
function spark(row, colour, spans) {
	const ns = 'http://www.w3.org/2000/svg', svg = document.createElementNS(ns, 'svg');
	const path = document.createElementNS(ns, 'path'), most = Math.max(...row, 1e-9);
	svg.setAttribute('viewBox', `0 0 ${row.length} 20`);
	svg.setAttribute('preserveAspectRatio', 'none');
	svg.classList.add('wide');
	path.setAttribute('d', [...row].map((v, i) => {
		const [from, to] = spans?.[i] ?? [i, i + 1];
		return v ? `M${from} 20V${(20 - v / most * 19).toFixed(1)}H${to - 0.15}V20z` : '';
	}).join(''));
	path.setAttribute('fill', colour);
	svg.append(path);
	return svg;
}

/** At most so many columns, each the sum of some steps. */
function squeeze(row, most) {
	const by = Math.max(1, Math.ceil(row.length / most)), out = new Float64Array(Math.ceil(row.length / by));
	row.forEach((v, i) => { out[Math.floor(i / by)] += v; });
	return out;
}

/** The bars of a row. */
const SPARKS = 120;
const GROUPING_NAMES = { application: 'Application', image: 'Image', kind: 'Kind of code', cgroup: 'Cgroup', process: 'Process', thread: 'Thread', cpu: 'CPU', event: 'Event' };
export const PLURALS = { function: 'functions', application: 'applications', image: 'images', kind: 'kinds of code', cgroup: 'cgroups', process: 'processes', thread: 'threads', cpu: 'CPUs' };
/** What records the parts that samples are separated by. */
const RECORDED_BY = { cgroup: 'cgroup', process: 'thread', thread: 'thread', cpu: 'cpu' };

/** Chooses what samples are added up by. */
function groupingChoice(page) {
	return el('label', { class: 'grouping' }, 'by ', el('select', { id: 'by-what', onchange: e => page.groupBy(e.target.value) },
		GROUPINGS.map(g => el('option', { value: g, selected: g === page.grouping }, g === 'cpu' ? 'CPU' : GROUPING_NAMES[g].toLowerCase()))));
}

/** Why there is nothing to show by a grouping: what records it. */
export function showMissing(page, grouping = page.grouping) {
	const { head } = page.profile, by = RECORDED_BY[grouping], was = (head.separate ?? '').split(',').includes(by);
	if (grouping === 'event' && head.events) return showEvents(page);
	if (grouping === 'event')
		return el('p', {}, `This page is of one event: ${visible(head.event)} Another event has a page of its own, because samples of two events do not add up: give `,
			el('code', {}, 'event:NAME'), ' to opweb or opreport.');
	if (was && !page.profile.tasks.length)
		return el('p', {}, `This session has more than a page can show by ${grouping}. Choose some with `, el('code', {}, 'cgroup:PATH'), ', ',
			el('code', {}, 'tgid:N'), ' or ', el('code', {}, 'cpu:N'), '.');
	return el('p', {}, `This session does not say which ${grouping === 'cpu' ? 'CPU' : grouping} a sample is of. Record with `,
		el('code', {}, `operf --separate-${by}`), ' or ', el('code', {}, `opcontrol --separate=library,kernel,${by}`), '.');
}

/** The samples of each step of time, of the moments in view. */
function stepSums(profile, isIn) {
	const row = new Float64Array(profile.steps), { step, count } = profile.columns;
	for (let i = 0; i < count.length; i++) if (step[i] < row.length && isIn(i)) row[step[i]] += count[i];
	return row;
}

/** How many samples each event has, and when: their numbers do not add up. */
function showEvents(page) {
	const { head } = page.profile, shown = { key: head.event_key, profile: page.profile, n: page.n };
	const rows = head.events.map(key => (key === shown.key ? shown : page.events.find(e => e.key === key) ?? { key, profile: null, n: 0 }));
	const line = ({ key, profile, n }) => el('div', { class: 'line', role: 'row' },
		el('div', { role: 'rowheader' }, key === shown.key ? el('b', {}, eventName(head, key)) : el('button', { type: 'button', title: `Show ${eventName(head, key)} in all views`, onclick: () => page.chooseEvent(key) }, eventName(head, key))),
		el('div', { class: 'right', role: 'cell' }, profile ? amount(profile.head, n) : ''),
		profile?.steps ? spark(squeeze(stepSums(profile, () => true), SPARKS), page.palette.apps[0], profile.steps > SPARKS ? null : spansOf(profile.head.steps)) : el('div', { class: 'wide', role: 'cell' }));
	return el('div', {}, el('div', { class: 'users few', role: 'table', 'aria-label': 'Events' }, el('div', { class: 'line', role: 'row' }, ['Event', 'Samples', 'over the session'].map((text, i) => el('div', { class: 'h' + ['', ' right', ' wide'][i], role: 'columnheader' }, text))), rows.map(line)),
		el('p', { class: 'dim' }, 'Samples of two events do not add up, so the views are about one of them; each graph here has its own scale. Press another event to see it.'));
}

/** What a group is in any profile. */
function groupId(profile, by, g) {
	if (by === 'application') return profile.key[g];
	if (by === 'image') return profile.head.images[g]?.path ?? '';
	return by === 'kind' ? String(g) : String(profile.taskGroups(by)?.values[g]);
}

/** The samples of each group in the other events: [{ key, n, head, sums (by id), names (by id) }]. */
function eventGroups(page, by) {
	return page.events.filter(e => hasGrouping(e.profile, by) && e.tree).map(({ key, profile, n, tree, functions, isIn }) => {
		const found = profile.taskGroups(by) ? profile.taskSums(by, isIn) : profile.sumsOf(tree, functions.self, by);
		const groups = [...found.keys()], names = groupNames(profile, by, groups), ids = groups.map(g => groupId(profile, by, g));
		return { key, n, head: profile.head, sums: new Map(ids.map((id, i) => [id, found.get(groups[i])])), names: new Map(ids.map((id, i) => [id, names[i]])) };
	});
}

/** Groups that only other events have samples of, with at least this share of one of them. */
const EVENT_SHARE = 0.01;

function groupsOfEvents(events, known) {
	const names = new Map();
	for (const { n, sums, names: own } of events)
		for (const [id, k] of sums) if (!known.has(id) && k >= EVENT_SHARE * n) names.set(id, own.get(id));
	return [...names];
}

/** The nodes of each group, as ranges. */
function rangesOf(profile, tree, grouping) {
	const ranges = new Map(), { n, func, end } = tree;
	const add = (group, from, to) => {
		const list = ranges.get(group);
		if (list) list.push([from, to]);
		else ranges.set(group, [[from, to]]);
	};
	if (grouping === 'application') {
		for (let i = 1; i < n; i = end[i]) add(func[i], i, end[i]);
		return ranges;
	}
	const of = profile.groups(tree, grouping);
	for (let i = 0, from = 0; i < n; i++) {
		if (of[i + 1] === of[i]) continue;
		add(of[i], from, i + 1);
		from = i + 1;
	}
	return ranges;
}

/** The rows of the overview: { sums, noise(group), press(group) (what a press of its name does; null: nothing) }. */
function groupsInView(page, grouping = page.grouping) {
	const { profile, tree, blocks } = page;
	if (profile.taskGroups(grouping)) {
		const { values } = profile.taskGroups(grouping), groupOf = profile.groupsOfMoments(grouping);
		return { sums: profile.taskSums(grouping, page.isInView), noise: g => blocks.ofMoments(`${grouping}${g}`, i => groupOf(i) === g),
			press: g => (values[g] === null ? null : () => page.onlyTask(grouping, values[g])) };
	}
	const ranges = new Map(), nodes = g => {
		if (!ranges.size) for (const [group, list] of rangesOf(profile, tree, grouping)) ranges.set(group, list);
		return ranges.get(g) ?? [];
	};
	return { sums: profile.sumsOf(tree, page.functions.self, grouping), noise: g => blocks.remember(`${grouping}${g}`, () => nodes(g)),
		press: g => (grouping === 'application' ? () => page.focus(g) : null) };
}

/** When the samples of each of these groups were taken. */
function sparkRows(page, groups) {
	const rows = new Map(groups.map(g => [g, new Float64Array(page.profile.steps)])), { step, count } = page.profile.columns;
	for (let i = 0; i < count.length; i++) {
		const row = rows.get(page.series.groupOf(i));
		if (row) row[step[i]] += count[i];
	}
	return rows;
}

/** Whether the profile can be added up by a grouping. */
export function hasGrouping(profile, by) {
	return by !== 'event' && (!TASK_PARTS.includes(by) || Boolean(profile.taskGroups(by)));
}

const HAPPENINGS_SHOWN = 12;

/** What happened in the session, each a button: to what was lost or not recorded, or to what differs before and after. */
function happenings(page) {
	const list = page.annotations;
	if (!list.length) return '';
	return el('div', { class: 'happened' }, el('h2', {}, 'What happened meanwhile'), el('ul', {}, list.slice(0, HAPPENINGS_SHOWN).map(a => el('li', {},
		el('button', { type: 'button', title: a.kind === 'gap' || a.kind === 'lost' ? 'Choose this time' : 'Compare the time before with the time after', onclick: () => page.goTo(a) },
			el('span', { class: 'dim' }, a.when), ` ${a.text}`)))), list.length > HAPPENINGS_SHOWN ? el('p', { class: 'dim' }, `and ${int(list.length - HAPPENINGS_SHOWN)} more`) : null);
}

function overviewHint(page) {
	const { grouping } = page, drag = page.profile.steps ? ' Drag over the timeline to choose a window.' : '';
	if (grouping === 'image' || grouping === 'kind') return `Only own samples count.${drag}`;
	return `Press a name to see only it.${drag}`;
}

export function showOverview(page, host) {
	const { profile, grouping } = page;
	if (!hasGrouping(profile, grouping)) return host.replaceChildren(el('h2', {}, 'Who used the machine ', groupingChoice(page)), showMissing(page));
	const { sums, noise: noiseOf, press } = groupsInView(page), top = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 25);
	const rows = sparkRows(page, top.map(e => e[0])), most = top.length ? wilson(top[0][1], page.n, noiseOf(top[0][0]))[1] : 1;
	const events = eventGroups(page, grouping), isRight = i => i && i < 4 + events.length;
	const head = [GROUPING_NAMES[grouping], 'Share %', '± 95 %', profile.head.hz ? 'Time' : profile.head.unit ? 'Off the CPU' : 'Samples', ...events.map(e => `${eventName(profile.head, e.key)} %`), '', profile.steps ? 'over the session' : ''];
	const cells = [el('div', { class: 'line', role: 'row' }, head.map((text, i) => el('div', { class: `h ${isRight(i) ? 'right' : ''} ${i > 3 ? 'wide' : ''}`, role: 'columnheader', title: text }, text)))];
	const shares = id => events.map(e => el('div', { class: 'right wide', role: 'cell', title: `${count(e.head, e.sums.get(id) ?? 0)} of ${amount(e.head, e.n)}` }, e.n ? pct((e.sums.get(id) ?? 0) / e.n) : '–'));
	const names = groupNames(profile, grouping, top.map(e => e[0]));
	for (const [i, [g, k]] of top.entries()) {
		const colour = page.groupColour(g), noise = noiseOf(g), name = names[i], act = press(g);
		const bar = el('div', { class: 'bar wide', role: 'cell' }, el('u'));
		fillBar(bar, k, page, most, noise);
		cells.push(el('div', { class: 'line', role: 'row' }, el('div', { role: 'rowheader', title: name }, act ? el('button', { type: 'button', title: `Only ${name}`, onclick: act }, swatch(colour), name) : [swatch(colour), name]),
			el('div', { class: 'right', role: 'cell' }, pct(k / page.n)), el('div', { class: 'right', role: 'cell' }, plusMinus(k, page.n, noise)),
			el('div', { class: 'right', role: 'cell' }, page.timeOf(k)), shares(groupId(profile, grouping, g)), bar,
			profile.steps ? spark(squeeze(rows.get(g), SPARKS), colour, profile.steps > SPARKS ? null : spansOf(profile.head.steps)) : el('div', { class: 'wide', role: 'cell' })));
	}
	for (const [id, name] of groupsOfEvents(events, new Set([...sums.keys()].map(g => groupId(profile, grouping, g)))))
		cells.push(el('div', { class: 'line', role: 'row' }, el('div', { role: 'rowheader', title: name }, name), ['0', '', ''].map(text => el('div', { class: 'right', role: 'cell' }, text)), shares(id), ['', ''].map(() => el('div', { class: 'wide', role: 'cell' }))));
	const table = el('div', { class: 'users', role: 'table', 'aria-label': 'Who used the machine' }, cells);
	if (events.length) table.style.setProperty('--events', `repeat(${events.length}, minmax(64px, max-content))`);
	host.replaceChildren(el('h2', {}, 'Who used the machine ', groupingChoice(page)), table,
		sums.size > top.length ? el('p', { class: 'dim' }, `${int(sums.size - top.length)} others: ` +
			`${pct(1 - top.reduce((sum, e) => sum + e[1], 0) / page.n)} %`) : '',
		el('p', { class: 'dim' }, overviewHint(page), events.length ? el('span', { class: 'wide' }, ` Share and time are of ${eventName(profile.head, profile.head.event_key)}; the other columns of each event alone.`) : null),
		...(grouping === 'image' || grouping === 'kind') && missingText(page) ? [el('p', { class: 'dim' }, missingText(page))] : [], happenings(page));
}

// --- difference ---

let diffTable = null, diffPage = null, framesListed = '';

/** What is known of the difference of the two views of a page, which are kept: { B, rows (functions, with the change in points, its
 * interval, and whether it may be chance), sureAt (the largest chance that counts as none), frames (by node) }. */
function differenceOf(page) {
	if (page.view.difference?.B !== page.B) page.view.difference = { B: page.B, frames: new Map(), ...makeDiffRows(page) };
	return page.view.difference;
}

/** A row, whose names are made when they are shown or compared. */
class DiffRow {
	constructor(profile, f, known, most, { half, change, p }) {
		this.profile = profile;
		this.f = f;
		this.a = known[0];
		this.b = known[1];
		this.most = most;
		this.half = half;
		this.change = change;
		this.p = p;
		this.sure = this.perhaps = false;
	}

	get name() {
		return fullName(this.profile, this.f);
	}

	get image() {
		return imageName(this.profile, this.f);
	}
}

/** The own samples of functions in both windows: those of the trees, unless both are whole profiles, of which all is known. */
function ownOfBoth({ profile, functions, tree, B, second, isPart, other }) {
	const isCut = (profile.head.hidden || second?.head.hidden) && (isPart || other), of = (f, t) => (isCut ? profile.functions(t) : f).self;
	return { ownA: of(functions, tree), ownB: of(B.functions, B.tree) };
}

const NONE = [0, 0];

/** The most that two counts may be that are not known. Nearly all are. */
function unknownOf(a, b) {
	return a || b ? [a, b] : NONE;
}

/** Two counts, of which one may be not known, up to the most that it can be: then as near to the other's share as it can be. */
function nearest(page, known, most) {
	const [a, b] = known, [mostA, mostB] = most;
	if (!mostA && !mostB) return [a, b];
	return [mostA ? Math.min(mostA, b / page.B.n * page.n) : a, mostB ? Math.min(mostB, a / page.n * page.B.n) : b];
}

function makeDiffRows(page) {
	const { profile, B, n } = page, m = B.n, rows = /** @type {any[]} */ ([]), { ownA, ownB } = ownOfBoth(page);
	for (let f = 1; f < profile.count; f++) {
		if (!(ownA[f] || ownB[f]) || !isShown(profile, f) || profile.others.has(f)) continue;
		const known = [ownA[f], ownB[f]], most = unknownOf(known[0] ? 0 : profile.unseen(f), known[1] ? 0 : page.second?.unseen(f) ?? 0);
		const [a, b] = nearest(page, known, most);
		const { chance, half } = compareShares(a, n, page.blocks.ofFunction(f), b, m, B.blocks.ofFunction(f));
		rows.push(new DiffRow(profile, f, known, most, { half, change: b / m - a / n, p: chance }));
	}
	const sureAt = largestSure(rows.filter(r => r.a + r.b >= 12).map(r => r.p));
	for (const r of rows) {
		r.sure = r.a + r.b >= 12 && r.p <= sureAt;
		r.perhaps = !r.sure && r.p <= 0.05;
	}
	return { rows, sureAt };
}

function verdict(r) {
	if (r.perhaps) return r.change > 0 ? '△ perhaps' : '▽ perhaps';
	if (!r.sure) return 'chance';
	if (!r.a && !r.most[0]) return '▲ new';
	if (!r.b && !r.most[1]) return '▼ gone';
	return r.change > 0 ? '▲ more' : '▼ less';
}

/** The share of a count, or what it is below. */
function shareOf(k, most, n) {
	return most ? pct((most + 1) / n).replace(/^<?/, '<') : pct(k / n);
}

function fillChange(c, r) {
	const most = diffPage.most, at = v => 50 + v / most * 50, s = c.firstChild.style;
	s.setProperty('--l', at(Math.min(0, r.change)) + '%');
	s.setProperty('--w', Math.abs(r.change) / most * 50 + '%');
	s.setProperty('--c', diffPage.palette.difference(Math.sign(r.change) * (r.perhaps ? 0.25 : 1), r.sure || r.perhaps));
	s.setProperty('--lo', at(r.change - r.half) + '%');
	s.setProperty('--hi', at(r.change + r.half) + '%');
}

/** The columns of a table of these frames: functions, images or classes. */
function diffColumns(frames) {
	const grey = (c, r) => c.classList.toggle('dim', !r.sure && !r.perhaps);
	return [
		{ id: 'change', title: 'Change', width: '84px', narrow: '74px', cls: 'right', falls: true,
			key: r => (r.sure ? 10 : r.perhaps ? 5 : 0) + Math.abs(r.change),
			fill: (c, r) => {
				const mark = r.sure || r.perhaps ? verdict(r)[0] + ' ' : '';
				c.textContent = `${mark}${r.change < 0 ? '−' : '+'}${pct(Math.abs(r.change))}`;
				grey(c, r);
			} },
		{ id: 'bar', title: 'points, 95 % interval', width: '190px', falls: true, key: r => r.change,
			init: c => c.append(el('div', { class: 'change' }, el('s'), el('u'))), fill: fillChange },
		{ id: 'a', title: 'A %', width: '60px', narrow: '48px', cls: 'right', falls: true, key: r => r.a,
			fill: (c, r) => { c.textContent = shareOf(r.a, r.most[0], diffPage.n); } },
		{ id: 'b', title: 'B %', width: '60px', narrow: '48px', cls: 'right', falls: true, key: r => r.b,
			fill: (c, r) => { c.textContent = shareOf(r.b, r.most[1], diffPage.B.n); } },
		{ id: 'says', title: 'Says', width: '84px', key: r => verdict(r),
			fill: (c, r) => { c.textContent = verdict(r); grey(c, r); } },
		{ id: 'name', title: `${frames[0].toUpperCase()}${frames.slice(1)}`, width: 'minmax(0,1fr)', narrow: 'minmax(0,1fr)', key: r => r.name,
			fill: (c, r) => { c.textContent = r.name; c.title = r.name; grey(c, r); } },
		...frames === 'image' ? [] : [{ id: 'image', title: 'Image', width: 'minmax(90px,170px)', cls: 'dim', key: r => r.image,
			fill: (c, r) => { c.textContent = r.image; } }],
	];
}

export function showDifference(page, host, note) {
	const rows = differenceOf(page).rows.filter(r => !(page.found && !page.found.hit[r.f]));
	const sure = rows.filter(r => r.sure).length, perhaps = rows.filter(r => r.perhaps).length;
	diffPage = page;
	page.most = rows.reduce((most, r) => Math.max(most, Math.abs(r.change) + r.half), 1e-9);
	const [one, several] = page.frameNames;
	if (one !== framesListed) {
		host.replaceChildren();
		diffTable = null;
		framesListed = one;
	}
	diffTable ||= new Table(host, diffColumns(one), { label: `Differences by ${one}`, by: 'change',
		onOpen: r => diffPage.open(r.f), onPick: r => diffPage.pick(r.f) });
	diffTable.set(rows);
	note.textContent = `A ${amount(page.profile.head, page.n)}, B ${amount(page.profile.head, page.B.n)}` +
		`${page.lengthsDiffer ? ', of windows of different length: shares are compared' : ''}${page.overlap ? '; the windows overlap, so they differ less than they would' : ''}. ` +
		`${sure} ${sure === 1 ? `${one} differs` : `${several} differ`} for certain, ${perhaps} perhaps; ` +
		`the rest of ${int(rows.length)} is within chance: grey. ` +
		noiseText(page.profile.head, page.blocks, page.B.blocks);
}

/** The colour and the mark of a frame in the flame graph of both windows. */
export function frameDifference(page, i) {
	const { frames, sureAt } = differenceOf(page);
	if (!frames.has(i)) frames.set(i, compareFrame(page, i, sureAt));
	return frames.get(i);
}

function compareFrame(page, i, sureAt) {
	const known = [page.tree.total[i], page.B.tree.total[i]], most = [known[0] ? 0 : page.profile.unseenNode(i, page.view.map), known[1] ? 0 : page.second?.unseenNode(i, page.B.map) ?? 0];
	const [a, b] = nearest(page, known, most), x = a / page.n, y = b / page.B.n;
	if (page.tree.func[i] === page.profile.rest) return { change: 0, sure: false, differs: false };
	const { chance } = compareShares(a, page.n, page.blocks.ofNode(i), b, page.B.n, page.B.blocks.ofNode(i));
	return { change: Math.max(-1, Math.min(1, (y - x) / Math.max(x, y, 1e-12))), sure: a + b >= 12 && chance <= sureAt, differs: chance <= 0.05 };
}

/** The mark of such a frame: ▲ more, ▼ less, △ and ▽ perhaps, '' chance. */
export function frameMark({ change, sure, differs }) {
	if (!differs) return '';
	return sure ? '▼▲'[Number(change > 0)] : '▽△'[Number(change > 0)];
}

/** How much of its colour such a frame has. */
export function frameChange({ change, sure }) {
	return sure ? change : change * 0.25;
}

/** What the colours of that graph mean. */
export function differenceKey({ palette }) {
	return [[1, '▲ more in B'], [-1, '▼ less in B'], [0.25, '△ perhaps'], [-0.25, '▽ perhaps'], [0, 'within chance']].map(([change, text]) =>
		el('span', {}, swatch(palette.difference(change, Boolean(change))), String(text))).concat([el('span', {}, 'as wide as the mean of both shares')]);
}

// --- quality ---

/** The samples in functions of one kind; if frames are groups of functions, by those of the profile that these are of. */
function samplesOfKind({ profile, whole, functions, self }, wanted) {
	const { kind } = whole.func, { func, n } = whole.base;
	let sum = 0;
	if (!profile.of) for (let f = 1; f < whole.count; f++) sum += kind[f] === wanted ? functions.self[f] : 0;
	else for (let i = 1; i < n; i++) sum += self[i] && kind[func[i]] === wanted ? self[i] : 0;
	return sum;
}

/** Facts for the chip, the worst first: { text, level }, of the window that is shown. */
export function qualityFacts(page) {
	const { profile } = page, { head } = profile, facts = [];
	const nameless = samplesOfKind(page, KIND_NONE), rare = samplesOfKind(page, KIND_RARE);
	const lost = page.lost / (page.lost + page.before || 1);
	facts.push({ level: lost > 0.02 ? 2 : lost > 0.001 ? 1 : 0, text: page.lost ? `${int(page.lost)} lost (${pct(lost)} %)` : '0 lost' });
	if (page.gaps) facts.push({ level: 1, text: `${lengthOf(page.gaps)} gap` });
	if (head.applications_only) return [...facts, { level: 0, text: 'reading the chains…' }];
	if (nameless) facts.push({ level: nameless / page.n > 0.05 ? 1 : 0, text: `${pct(nameless / page.n)} % no symbols` });
	if (rare) facts.push({ level: 0, text: `${pct(rare / page.n)} % too rare to be kept` });
	if (head.chains) {
		const whole = head.ends.filter(e => e.complete).reduce((sum, e) => sum + e.samples, 0) / head.samples;
		const { without } = page;
		facts.push({ level: whole < 0.9 ? 1 : 0, text: `${pct(whole)} % whole chains` });
		if (without) facts.push({ level: without > 0.02 ? 2 : without > 0.001 ? 1 : 0, text: `${pct(without)} % without chains` });
	}
	if (head.no_chains) facts.push({ level: 2, text: 'call chains unreadable' });
	if (head.skipped_files) facts.push({ level: 2, text: `${head.skipped_files} files unreadable` });
	return facts.sort((a, b) => b.level - a.level);
}

function card(title, ...content) {
	return el('div', { class: 'card' }, el('h3', {}, title), ...content);
}

function rowsOf(list, cls = '') {
	return el('table', { class: cls }, list.map(cells => el('tr', {}, cells.map(c => el('td', {}, c)))));
}

export function showQuality(page, host) {
	const { head } = page.profile, n = head.samples, ends = new Map();
	for (const e of head.ends || []) {
		const old = ends.get(e.end) || { meaning: e.meaning, samples: 0, images: [] };
		old.samples += e.samples;
		old.images.push(e);
		ends.set(e.end, old);
	}
	const where = page.window ? ', in this window' : '';
	const samples = [[(head.unit ? 'off the CPU' : 'samples') + where, count(head, page.before)], ['lost' + where, int(page.lost)],
		[`95 % interval of a share of 1 %, if ${head.unit ? 'waits' : 'samples'} are independent`, plusMinus(page.before * 0.01, page.before, independent(head))]];
	if (page.gaps) samples.push(['not recorded', lengthOf(page.gaps)]);
	if (head.skipped_files) samples.push(['files that could not be read', int(head.skipped_files)]);
	if (head.hidden) samples.push([`not drawn: ${int(head.hidden.nodes)} nodes, each below ${amount(head, head.hidden.below)}`, `${pct(head.hidden.samples / n)} %`]);
	if (head.others) samples.push([`without a name: ${int(head.others.functions)} functions, each in less than ${amount(head, head.others.below)}`,
		`${pct([...page.profile.others].reduce((sum, f) => sum + page.functions.self[f], 0) / page.n)} %`]);
	host.replaceChildren(el('h2', {}, 'How good these numbers are'), page.window ? el('p', { class: 'dim' }, 'The samples, and how many were lost, are those of the window; all else is about the whole session.') : '', el('div', { class: 'cards' },
		card('Samples', rowsOf(samples), page.window && page.lost ? el('p', { class: 'dim' }, `A history has how many samples were lost, not why.${head.losses.length ? ' Of the whole session:' : ''}`) : '',
			rowsOf(head.losses.map(l => [visible(l.meaning), int(l.value)]))),
		head.chains ? card('Where call chains end', rowsOf([...ends].sort((a, b) => b[1].samples - a[1].samples)
			.map(([, e]) => [[visible(e.meaning), e.images[0].complete ? null : el('span', { class: 'remedy' },
				e.images.slice(0, 4).map(i => visible(i.image.split('/').pop())).join(', '))], `${count(head, e.samples)} · ${pct(e.samples / n)} %`]))) : null,
		card('Without symbols', head.unresolved.length ? rowsOf(head.unresolved.slice(0, 12).map(u =>
			[[visible(u.image), el('span', { class: 'remedy' }, visible(u.remedy))], `${pct(u.samples / n)} %`])) : 'Every sample is in a function with a name.'),
		card('How it was measured', el('pre', {}, head.header.map(visible).join('\n')),
			rowsOf([['kernel', visible(head.kernel ?? 'not known')], ['driver', visible(head.driver ?? 'not known')], ['CPUs', int(head.cpus || 0)]], 'words'))));
}

/** The kinds of functions that the profile has, with their colours. */
export function kindsKey(page) {
	const present = new Set(page.profile.func.kind);
	return KINDS.map((name, k) => k && k !== KIND_REST && present.has(k) ? el('span', {}, swatch(page.palette.kind[k][2]), name) : null);
}
