// SPDX-License-Identifier: GPL-2.0-or-later
// The page: computes what the state asks for, shows it, and turns what people do into changes of the state.
import { amount, clock, count, cpuTime, el, int, lengthOf, pct, shellWord, visible } from './fmt.js';
import { Blocks, independent } from './statistics.js';
import { KIND_APPLICATION, KIND_CUT, KIND_KERNEL, KIND_NONE, KIND_RARE, KIND_REST, KINDS, palette } from './color.js';
import { Flame } from './flame.js';
import { findKey, frameOf, FRAMES, functionsOf, withFrames } from './merged.js';
import { spansOf, Timeline } from './timeline.js';
import { annotationsOf } from './annotations.js';
import { chosenTasks, filters, filtersText, hasOption, optionsWith, readState, state, tasksText, unknown, VIEWS, writeState } from './state.js';
import { csvOf, foldedOf, jsonOf, pprofOf } from './exports.js';
import { cgroupName, differenceKey, eventName, frameChange, frameDifference, frameMark, fullName, groupNames, hasGrouping, imageName, imagePath, kindsKey, PLURALS, qualityFacts, shareText, shortName, showDifference,
	showFunctions, showMissing, showOverview, showQuality, swatch } from './views.js';
import { isServed, load, loadApplications, loadFiles, loadSecond, loadSource, loadSources } from './provider.js';
import { joinFiles, joinProfiles } from './second.js';
import { withBuilds } from './builds.js';
import { splitByGroup, withGroups } from './rooted.js';
import { Outline } from './outline.js';
import { Source } from './source.js';

const GROUPS_SHOWN = 8, HOTTEST_OFFERED = 30, CALLERS_OFFERED = 3;
/** Other applications that have less than the rest are of no interest at first. */
const MOSTLY = 0.9;
/** Kinds of functions that opreport has no name for. */
const SPECIAL_KINDS = [KIND_APPLICATION, KIND_CUT, KIND_NONE, KIND_RARE, KIND_REST];
const $ = id => /** @type {any} */ (document.getElementById(id));

/** @type {any} */
let page = null;
/** The profile that it is compared with, or null; what is known of it: the session, and why it cannot be shown. */
let second = /** @type {any} */ (null), secondOf = { session: '', trouble: '', isReading: false };
/** The profile that was loaded; profile is the one that is shown: the same, or one in which the builds of two windows are one. */
let loaded;
let profile, timeline, annotations = [], series, isComparing = false, match = -1;
const graphs = {}, reshaped = new Map();
/** @type {any} */
let outline = null;
/** The profiles of the other events: [{ key, profile }]; null: not asked for. */
let otherEvents = /** @type {any[] | null} */ (null);
/** @type {any} */
let source = null;
/** Those in the page. */
let sources = { wanted: 0, functions: new Map() };
let asked = '', asking = 0;
/** Of the source files of functions: whether they are being read, and why they cannot be. */
let filesOf = { isReading: false, trouble: '' };
const ASK_DELAY_MS = 250;
/** What a label of all the time begins with; a narrow screen has only how long that is. */
const WHOLE = 'whole session, ';

// --- names, windows ---

function timeOf(samples) {
	const { hz } = profile.head;
	return hz ? cpuTime(samples / hz) : amount(profile.head, samples);
}

/** A window of steps as the address and opreport take it. It counts the same slices as the steps: it begins
 * with the first of them and ends with the last. */
function windowText(window, p = profile) {
	const s = p.head.steps, iso = ms => new Date(ms).toISOString().replace('.000', '');
	const from = s.from_ms.slice(...window).filter((_, i) => s.to_ms[window[0] + i]), to = s.to_ms.slice(...window);
	if (!from.length) return `${iso(s.begin_ms + window[0] * s.length_ms)}..${iso(s.begin_ms + window[1] * s.length_ms)}`;
	return `${iso(Math.min(...from))}..${iso(Math.max(...to))}`;
}

/** The steps of such a text; null if it is none or not in the profile. */
function parseWindow(text, p = profile) {
	const s = p.head.steps, [from, to] = text.split('..').map(t => Date.parse(t));
	if (!s || !(from < to)) return null;
	let first = -1, last = -1;
	for (let i = 0; i < s.count; i++) {
		const begin = s.to_ms[i] ? s.from_ms[i] : s.begin_ms + i * s.length_ms;
		const end = s.to_ms[i] || begin + s.length_ms;
		if (begin >= to || end <= from) continue;
		if (first < 0) first = i;
		last = i;
	}
	return first < 0 ? null : [first, last + 1];
}

function stepTime(i) {
	const s = profile.head.steps, long = s.length_ms * s.count > 86400000;
	const time = clock(s.begin_ms + i * s.length_ms, long);
	return long ? time.slice(5, 16) : time;
}

function windowLabel(window) {
	if (!profile.steps) return 'whole session';
	if (!window) return `${WHOLE}${lengthOf(profile.span[1] - profile.span[0])}`;
	return `${stepTime(window[0])} to ${stepTime(window[1])}`;
}

// --- computing ---

/** What the frames of the view are: a key of FRAMES. */
function framesShown() {
	return !['flame', 'diff'].includes(state.v) || (state.m === 'file' && !profile.files) ? 'function' : state.m;
}

/** What the first row of the flame graph is: a part of tasks; '': applications. */
function rootsShown() {
	return state.v === 'flame' && hasGrouping(profile, state.r) ? state.r : '';
}

/** Puts groups of tasks into the first row of the flame graph, if the state says so. */
function addRoots() {
	const part = rootsShown(), { view: shown, profile: frames } = page;
	page.graph = page.tree;
	if (!part) return;
	const key = `below ${part}`, values = profile.taskGroups(part).values;
	page.profile = frames.late[key] ??= withGroups(frames, part, groupNames(profile, part, [...values.keys()]));
	if (shown.split?.part !== part) shown.split = { part, tree: splitByGroup(profile, shown, page.profile, page.isInView) };
	page.graph = shown.split.tree;
}

/** Whether a frame is that of a group of tasks. */
function isGroup(f) {
	return f >= page.profile.firstGroup;
}

/** Whether what is shown depends on the source files of functions. */
function needsFiles() {
	return (state.m === 'file' && ['flame', 'diff'].includes(state.v)) || [state.fn, ...filters().map(f => f.key)].some(key => key.startsWith('file '));
}

/** The tree's shape for the filters that hide and for the frames, and where the nodes of the data are in it. */
function shape(hidden) {
	const merge = hasOption('merge'), frames = framesShown();
	if (!hidden.length && !merge && frames === 'function') return null;
	const key = `${merge} ${frames} ${hidden.join()}`;
	if (!reshaped.has(key)) {
		reshaped.clear();
		reshaped.set(key, profile.reshape(new Set(hidden), merge, withFrames(profile, frames).of));
	}
	return reshaped.get(key);
}

function sumOf(numbers) {
	let sum = 0;
	for (let i = 0; i < numbers.length; i++) sum += numbers[i];
	return sum;
}

/** The samples of a window of a profile as a tree, with its functions. */
function view(p, window, chosen) {
	const mask = p.taskMask(chosenTasks()), isPlain = (window || mask) && !chosen.length && !hasOption('merge') && framesShown() === 'function';
	const found = isPlain ? p.ofWindow(window, mask) : filtered(p, window, mask, chosen), { self, tree } = found;
	return { ...found, mask, blocks: new Blocks(p, window, { self, tree, map: found.map, mask }), n: tree.total[0], before: found.before ?? tree.total[0] };
}

/** The samples of a window with filters: { self, tree, functions, map (of the nodes of the data to those of the tree), before (the samples without filters that reject some) }. */
function filtered(p, window, mask, chosen) {
	const of = verb => chosen.filter(f => f.verb === verb).map(functionsOf), all = p.window(window, mask), self = p.choose(all, of('focus'), of('drop').flat());
	const form = shape(of('hide').flat());
	let tree;
	if (form) {
		const projected = new Float64Array(form.tree.n);
		self.forEach((v, i) => { projected[form.map[i]] += v; });
		tree = form.tree.withSelf(projected);
	} else tree = self === p.base.self ? p.base : p.base.withSelf(self);
	return { self, tree, map: form?.map, before: self === all ? undefined : sumOf(all), functions: tree === p.base ? p.allFunctions() : withFrames(p, framesShown()).functions(tree) };
}

const remembered = new Map(), VIEWS_KEPT = 3;

/** The same. The views that were asked for last are kept. */
function viewOf(p, window, chosen) {
	const key = JSON.stringify([p === second, window, chosen.map(f => [f.verb, f.key]), state.who, hasOption('merge'), framesShown()]), known = remembered.get(key) ?? view(p, window, chosen);
	remembered.delete(key);
	remembered.set(key, known);
	if (remembered.size > VIEWS_KEPT) remembered.delete(remembered.keys().next().value);
	return known;
}

/** Reads the profiles of the other events, whose shares are columns of Functions, and shows them. */
async function readEvents() {
	const { events, event_key: shown, applications_only: isEarly } = profile.head, found = /** @type {any[]} */ ([]);
	if (!events || isEarly || otherEvents || !['functions', 'overview'].includes(state.v)) return;
	otherEvents = [];
	for (const key of events.filter(k => k !== shown)) {
		try {
			found.push({ key, profile: await load(key) });
		} catch (e) {
			say(`The samples of ${eventName(profile.head, key)} cannot be shown: ${visible(e.message.trim())}`);
		}
	}
	otherEvents = found;
	render();
}

/** What the other events have in the window: [{ key, profile, n, self (of its functions), of (a function of the page) }]. There
 * are none with filters, which are about the chains of one event. */
function eventsInView() {
	if (!otherEvents || filters().length || hasOption('merge') || (state.v === 'functions' && state.by !== 'function')) return [];
	return otherEvents.map(event => {
		const { key, profile: p } = event, asked = `${state.a} ${state.who}`, window = state.a ? parseWindow(state.a, p) : null;
		if (event.asked !== asked) Object.assign(event, { asked, view: state.a && !window ? null : view(p, window, []) });
		const self = event.view?.functions.self ?? [], n = event.view?.n ?? 0;
		return { key, profile: p, n, self, tree: event.view?.tree, functions: event.view?.functions, isIn: momentsIn(p, event.view, window), of: f => self[p.byKey.get(profile.key[f]) ?? -1] ?? 0 };
	});
}

/** What was lost, the time in which nothing was recorded, and the share of samples without chains, in a window. */
function losses(window) {
	const s = profile.head.steps, found = { lost: profile.head.lost, gaps: 0, without: 0 };
	if (!s) return found;
	const [from, to] = window || [0, s.count];
	if (window) found.lost = s.lost.slice(from, to).reduce((a, b) => a + b, 0);
	found.gaps = s.recorded.slice(from, to).filter(r => !r).length * s.length_ms;
	if (profile.shed) {
		const sum = list => list.slice(from, to).reduce((a, b) => a + b, 0), shed = sum(profile.shed);
		found.without = shed / ((window ? sum(s.sampled) : profile.head.samples + shed) || 1);
	}
	return found;
}

/** Goes to what is noted: its time, or what differs before and after it. */
function goTo({ kind, step, end }) {
	const n = profile.steps;
	if (kind === 'gap') return go({ a: windowText([Math.max(0, step - 1), Math.min(n, end + 1)]) });
	if (kind === 'lost' || !step) return go({ a: windowText([step, end]) });
	go({ v: 'diff', a: windowText([0, step]), b: windowText([step, n]) });
}

/** Whether a moment is in a view of a profile, as a function of its number. */
function momentsIn(p, shown, window) {
	const { at, step, task } = p.columns;
	return i => shown?.self[at[i]] > 0 && (!window || (step[i] >= window[0] && step[i] < window[1])) && (!shown.mask || shown.mask[task[i]]);
}

/** Shows a profile in the place of another one with the same samples. */
function chooseProfile(wanted) {
	if (wanted === profile) return;
	profile = wanted;
	series = null;
	remembered.clear();
	reshaped.clear();
}

/** Shows the profile in which the two windows, if there are two of it, can be compared. */
function chooseBuilds() {
	const isCompared = ['diff', 'source'].includes(state.v) && state.b && !second, other = isCompared ? parseWindow(state.b, loaded) : null;
	chooseProfile(other ? withBuilds(loaded, state.a ? parseWindow(state.a, loaded) : null, other) : loaded);
}

function compute() {
	chooseBuilds();
	makeSeries();
	const chosen = filters().map(f => ({ ...f, ...findKey(profile, f.key) })).filter(f => f.f !== undefined), frames = withFrames(profile, framesShown());
	const window = state.a ? parseWindow(state.a) : null, shown = viewOf(profile, window, chosen), other = state.b ? parseWindow(state.b, second ?? profile) : null;
	page = { profile: frames, whole: profile, frameNames: FRAMES[framesShown()], palette: colours(), events: eventsInView(), window, other, second: second && withFrames(second, framesShown()), chosen, sort: state.sort,
		isPart: Boolean(window || chosen.length || hasOption('merge') || state.who || frames !== profile), onlyTask: addTask, annotations, goTo: goTo, timeOf, groupColour, series, grouping: state.g, by: state.by, groupBy: g => go({ g }), chooseEvent, view: shown, ...shown, ...losses(window),
		open: f => { if (!frames.others.has(f)) go({ v: 'flame', dir: 'sandwich', fn: frames.key[f], z: '' }); }, pick: f => showDetail(null, 0, f),
		focus: f => addFilter('focus', f, { v: 'flame' }), sorted: id => writeState({ sort: id }, false), found: null };
	page.isInView = momentsIn(profile, page, window);
	addRoots();
	page.picked = (state.fn && frameOf(frames, findKey(profile, state.fn))) || -1;
	page.mostSelf = page.functions.self.reduce((most, k, f) => (frames.others.has(f) ? most : Math.max(most, k)), 1);
	if (second) page.B = viewOf(second, other, chosen);
	else if (other) {
		page.B = viewOf(profile, other, chosen);
		page.overlap = Math.max(other[0], window ? window[0] : 0) < Math.min(other[1], window ? window[1] : profile.steps);
		page.lengthsDiffer = other[1] - other[0] !== (window ? window[1] - window[0] : profile.steps);
	}
}

// --- colours ---

let shades = null;

function colours() {
	const dark = document.documentElement.dataset.theme === 'dark';
	if (shades?.dark !== dark) shades = palette(dark);
	return shades;
}

function groupColour(group) {
	const k = series.top.indexOf(group);
	return colours().apps[k < 0 ? 8 : k];
}

function frameColour(f, i) {
	const p = colours(), { kind, image } = page.profile.func;
	if (state.v === 'diff') {
		const d = frameDifference(page, i);
		return p.difference(frameChange(d), d.differs);
	}
	if (state.col === 'heat') return p.heat(Math.sqrt((page.functions.self[f] ?? 0) / page.mostSelf));
	if (state.col === 'image' && kind[f] !== 0 && kind[f] < 7) return p.ofImage(image[f]);
	return p.ofKind(kind[f], image[f]);
}

// --- tooltip, detail ---

function showTip(event, ...content) {
	const tip = $('tip');
	tip.hidden = !event;
	if (!event) return;
	tip.replaceChildren(...content);
	const w = tip.offsetWidth, h = tip.offsetHeight;
	tip.style.left = Math.max(4, Math.min(innerWidth - w - 8, event.clientX + 14)) + 'px';
	tip.style.top = (event.clientY + h + 24 > innerHeight ? event.clientY - h - 10 : event.clientY + 18) + 'px';
}

function place(f) {
	if (isGroup(f)) return page.profile.part;
	const kind = KINDS[page.profile.func.kind[f]], image = imageName(page.profile, f);
	return image && kind !== 'application' ? `${image} · ${kind}` : kind;
}

/** The noise of a node; that of a tree of callers is not measured. */
function noiseOf(t, i, isAlone = false) {
	if (t !== page.tree) return independent(profile.head);
	return isAlone ? page.blocks.ofNodeAlone(i) : page.blocks.ofNode(i);
}

function chanceText({ sure, differs }) {
	return sure ? 'more than chance, among all functions' : differs ? 'perhaps: more than chance, taken alone' : 'within chance';
}

function frameTip(graph, i, event) {
	if (i < 0 || !event) return showTip(null);
	const t = graph.tree, f = t.func[i], rows = state.v === 'diff' ?
		[['A', page.tree.total[i], page.n, page.blocks.ofNode(i)], ['B', page.B.tree.total[i], page.B.n, page.B.blocks.ofNode(i)]] :
		[['total', t.total[i], page.n, noiseOf(t, i)], ['self', t.self[i], page.n, noiseOf(t, i, true)]];
	const cells = (/** @type {any[]} */ [name, k, n, noise]) => [name, shareText(k, n, noise), count(profile.head, k), profile.head.hz ? timeOf(k) : ''];
	showTip(event, el('b', {}, fullName(page.profile, f)), el('div', { class: 'dim' }, place(f)),
		el('table', {}, rows.map(r => el('tr', {}, cells(r).map(c => el('td', {}, c))))),
		state.v === 'diff' ? el('div', {}, chanceText(frameDifference(page, i))) : '');
}

function actions(f) {
	if (isGroup(f)) return el('div', { class: 'actions' }, el('button', { type: 'button', onclick: () => addTask(page.profile.part, page.profile.values[f - page.profile.firstGroup]) }, `Only this ${page.profile.part}`));
	const button = (text, key, act) => el('button', { type: 'button', title: key, onclick: act }, text);
	return el('div', { class: 'actions' },
		button('Callers + callees', 's', () => page.open(f)),
		button('Focus', 'f', () => addFilter('focus', f)), button('Hide', 'h', () => addFilter('hide', f)),
		button('Drop', 'x', () => addFilter('drop', f)),
		button('Source', 'S', () => go({ v: 'source', fn: page.profile.key[f] })),
		el('button', { type: 'button', class: 'wide', title: 'y', onclick: () => copy(fullName(page.profile, f)) }, 'Copy name'));
}

/** The numbers of a function in both windows. */
function numbersOfBoth(f) {
	const of = p => (f ? `${shareText(p.functions.total[f], p.n, p.blocks.ofTotal(f))}, self ${pct(p.functions.self[f] / p.n)} %` : amount(profile.head, p.n));
	return `${f ? 'total ' : ''}A ${of(page)} · B ${of(page.B)}`;
}

/** Shows a node of a graph, or a function, in the line below. */
function showDetail(graph, i, f) {
	const t = graph?.tree, { profile: frames } = page, total = t ? t.total[i] : f ? page.functions.total[f] : page.n, self = t ? t.self[i] : page.functions.self[f];
	const isAll = f === 0 || frames.func.kind[f] === KIND_REST || frames.others.has(f);
	page.picked = isGroup(f) ? 0 : f;
	// the function whose frame this is stays known, for other frames
	if (!isAll && !isGroup(f) && frameOf(frames, findKey(profile, state.fn)) !== f) writeState({ fn: frames.key[f] }, false);
	$('detail').hidden = false;
	$('detail').replaceChildren(
		el('div', { class: 'name', title: fullName(frames, f) }, f ? fullName(frames, f) : 'everything that is shown'),
		el('div', { class: 'numbers' }, state.v === 'diff' ? numbersOfBoth(f) : `total ${f ? shareText(total, page.n, t && total !== page.functions.total[f] ? noiseOf(t, i) : page.blocks.ofTotal(f)) : '100 %'} · self ${pct(self / page.n)} % · ` +
			`${amount(profile.head, total)}${profile.head.hz ? ' · ' + timeOf(total) : ''}`),
		el('div', { class: 'dim' }, isGroup(f) ? place(f) : f ? `${imagePath(frames, f) || place(f)} · ${KINDS[frames.func.kind[f]]}` :
			t ? 'Click selects, double click or Enter zooms, Escape shows all, / searches, ? lists the keys.' :
				'Click or arrow keys select, double click or Enter shows callers and callees, / searches, ? lists the keys.'),
		isAll ? '' : actions(f));
	$('live').textContent = t ? graph.describe(i, `total ${pct(total / page.n)} percent, self ${pct(self / page.n)} percent`) : '';
}

function copy(text) {
	navigator.clipboard?.writeText(text).then(() => say('copied'), () => say(text));
}

let saying = 0;

function say(text) {
	const m = $('message');
	m.textContent = text;
	m.hidden = !text;
	clearTimeout(saying);
	saying = setTimeout(() => { m.hidden = true; }, 4000);
}

// --- changes ---

function go(change) {
	writeState(change);
	render();
}

/** Shows another event, whose samples are another profile. */
function chooseEvent(key) {
	writeState({ e: key, fn: '', z: '', f: '' });
	location.reload();
}

function addFilter(verb, f, more = {}) {
	if (!(f > 0) || page.profile.others.has(f)) return;
	const key = page.profile.key[f], list = filters().filter(x => x.key !== key);
	go({ f: filtersText([...list, { verb, key }]), z: '', ...more });
}

function chooseFrames(m) {
	go({ m, z: '' });
}

function chooseRoots(r) {
	go({ r, z: '' });
}

function mergeRecursion(isMerged) {
	go({ opt: optionsWith('merge', isMerged), z: '' });
}

/** Chooses the frames after those that are shown. */
function nextFrames() {
	const names = Object.keys(FRAMES);
	if (['flame', 'diff'].includes(state.v)) chooseFrames(names[(names.indexOf(state.m) + 1) % names.length]);
}

/** Chooses the tasks with this part, beside those with others. */
function addTask(part, value) {
	const list = chosenTasks().filter(c => c.part !== part || c.value !== String(value));
	go({ who: tasksText([...list, { part, value }]), z: '' });
}

function removeTask(task) {
	go({ who: tasksText(chosenTasks().filter(c => c.part !== task.part || c.value !== task.value)), z: '' });
}

/** The tags of specifications for the parts of a task. */
const TAGS = { cgroup: 'cgroup', process: 'tgid', thread: 'tid', cpu: 'cpu' };

/** The chosen tasks as words of a specification; null if there are none that choose the same: a cgroup there has those
 * below it. */
function taskWords() {
	const byTag = new Map();
	for (const { part, value } of chosenTasks()) {
		const isBelow = v => v !== value && String(v).startsWith(value === '/' ? value : value + '/');
		if (value === 'null' || value !== visible(value) || /[*?[\]\\,]/.test(value)) return null;
		if (part === 'cgroup' && profile.taskGroups(part)?.values.some(isBelow)) return null;
		byTag.set(TAGS[part], [...byTag.get(TAGS[part]) ?? [], value]);
	}
	return [...byTag].map(([tag, values]) => ' ' + shellWord(`${tag}:${values.join()}`)).join('');
}

function removeFilter(filter) {
	go({ f: filtersText(filters().filter(f => f.verb !== filter.verb || f.key !== filter.key)), z: '' });
}

/** The zoom as a path of functions. */
function pathOf(t, i) {
	const path = [];
	for (let k = i; k > 0; k = t.parent[k]) path.push(page.profile.key[t.func[k]]);
	return path.reverse();
}

function nodeOf(t, path) {
	let i = 0;
	for (const key of path) {
		let k = i + 1;
		while (k < t.end[i] && page.profile.key[t.func[k]] !== key) k = t.end[k];
		if (k >= t.end[i]) return i;
		i = k;
	}
	return i;
}

const PATH_LENGTH_MAX = 1200;

function zoomed(graph, i) {
	const text = pathOf(graph.tree, i).join('\t');
	showPath(graph, i);
	writeState({ z: text.length > PATH_LENGTH_MAX ? '' : text });
}

function showPath(graph, i) {
	const path = [], t = graph.tree;
	for (let k = i; k >= 0; k = t.parent[k]) path.push(k);
	$('path').replaceChildren(...path.reverse().slice(-9).flatMap((k, at) => [at ? ' › ' : '',
		el('button', { type: 'button', onclick: () => graph.zoom(k) }, k ? shortName(page.profile, t.func[k]) : 'all')]));
}

// --- rendering ---

function renderBar() {
	const { head } = profile, session = head.sessions?.[0], chip = (cls, text, title, remove) =>
		el('span', { class: 'chip ' + cls, title }, cls ? el('b', {}, cls) : null, el('span', {}, text.startsWith(WHOLE) ? [el('span', { class: 'wide' }, WHOLE), text.slice(WHOLE.length)] : text),
			remove ? el('button', { type: 'button', 'aria-label': `Remove ${text}`, onclick: remove }, '×') : null);
	$('what').textContent = [session?.host, session && session.name !== 'current' ? session.name : '', session?.command]
		.filter(Boolean).map(visible).join(' · ') || visible(head.event);
	$('what').title = head.header.map(visible).join('\n');
	$('chips').replaceChildren(
		chip('A', firstLabel(), `${windowLabel(page.window)}; drag over the timeline to choose a window`, page.window ? () => go({ a: '' }) : null),
		...(second ? [chip('B', secondLabel(), second.head.header.map(visible).join('\n'), secondOf.session ? () => go({ c: '', b: '' }) : null)] :
			page.other ? [chip('B', windowLabel(page.other), 'The window to compare with', () => go({ b: '', v: state.v === 'diff' ? 'flame' : state.v }))] : []),
		...chosenTasks().map(c => chip('', `${c.part === 'cpu' ? 'CPU' : c.part} ${cgroupName(profile, c.value)}`, c.part === 'cgroup' ? `Only the samples of ${visible(c.value)}` : 'Only these samples', () => removeTask(c))),
		...page.chosen.map(f => chip('', `${f.verb} ${shortName(f.profile, f.f)}`, fullName(f.profile, f.f), () => removeFilter(f))),
		...hasOption('merge') ? [chip('', 'recursion merged', 'A function that calls itself is one frame', () => mergeRecursion(false))] : [],
		...rootsShown() ? [chip('', `below ${PLURALS[state.r]}`, `The first row is of ${PLURALS[state.r]}`, () => chooseRoots(''))] : [],
		...framesShown() === 'function' ? [] : [chip('', `frames: ${page.frameNames[1]}`, `Functions of one ${page.frameNames[0]} that call each other are one frame`, () => chooseFrames('function'))]);
	$('compare').hidden = profile.steps < 2 || Boolean(second);
	$('compare').setAttribute('aria-pressed', String(isComparing));
	$('amount').textContent = page.B ? '' : `${amount(head, page.n)}${head.hz ? ', ' + timeOf(page.n) : ''}` +
		(page.n < head.samples ? `: ${pct(page.n / head.samples)} % of all` : '');
	const facts = qualityFacts(page), worst = Math.max(...facts.map(f => f.level));
	$('quality').className = 'quality ' + ['good', 'warn', 'bad'][worst];
	$('quality').replaceChildren(el('span', { class: 'mark', 'aria-hidden': 'true' }, '●◆■'[worst]),
		el('span', {}, el('b', { class: 'wide' }, 'Quality: '), facts[0].text, el('span', { class: 'wide' }, facts.slice(1, 3).map(f => ' · ' + f.text).join(''))));
}

function renderTabs() {
	for (const v of Object.keys(VIEWS)) {
		$('t-' + v).setAttribute('aria-selected', String(v === state.v));
		$('t-' + v).tabIndex = v === state.v ? 0 : -1;
		$('v-' + v).hidden = v !== state.v;
	}
	$('t-' + state.v).scrollIntoView({ block: 'nearest', inline: 'nearest' });
	const isFlame = state.v === 'flame';
	for (const id of ['directions', 'colour', 'recursion', 'roots']) $(id).hidden = !isFlame;
	$('frames').hidden = !isFlame && !(state.v === 'diff' && page.B);
	$('merge-by').value = state.m;
	$('root-of').value = state.r;
	$('key').hidden = (!isFlame && state.v !== 'diff') || isOutline();
	$('colour').hidden ||= isOutline();
	$('growth').hidden = !(isFlame && state.dir !== 'sandwich') && !(state.v === 'diff' && page.B);
	$('tools').hidden = !(isFlame || state.v === 'functions' || (state.v === 'diff' && page.B));
	$('drawn').hidden = (!isFlame && state.v !== 'diff') || isOutline();
	for (const d of ['down', 'up', 'sandwich']) $('dir-' + d).setAttribute('aria-pressed', String(state.dir === d));
	$('col').value = state.col;
	$('by').value = state.by;
	$('grouping').hidden = state.v !== 'functions';
	$('merge').checked = hasOption('merge');
	$('grow-down').setAttribute('aria-pressed', String(!hasOption('flame') && !isOutline()));
	$('grow-up').setAttribute('aria-pressed', String(hasOption('flame') && !isOutline()));
	$('as-table').setAttribute('aria-pressed', String(isOutline()));
	$('as-table').hidden = !isFlame;
	if (document.activeElement !== $('search')) $('search').value = state.q;
	$('key').replaceChildren(...(state.v === 'diff' ? differenceKey(page) : state.col === 'kind' ? kindsKey(page).filter(Boolean) : state.col === 'heat' ?
		[0, 0.33, 0.66, 1].map(t => swatch(page.palette.heat(t))).concat([el('span', {}, 'own samples of the function')]) :
		[el('span', {}, 'a colour for each image')]));
}

function search() {
	const found = state.q ? page.profile.search(page.tree, state.q) : null, [one, several] = page.frameNames, text = $('found');
	text.className = found?.error ? 'warn' : '';
	if (!found) text.textContent = '';
	else if (found.error) text.textContent = `not a pattern: ${found.error}`;
	else if (!found.functions) text.textContent = `no ${one} matches`;
	else text.textContent = `${shareText(found.samples, page.n, page.blocks.ofNodes(found.nodes))} · ${int(found.functions)} ${found.functions === 1 ? one : several}`;
	page.found = found?.functions ? found : null;
	if (page.found) page.found.drawn = page.graph === page.tree ? page.found.nodes : page.profile.search(page.graph, state.q).nodes;
	match = -1;
	$('steps').hidden = !page.found || state.v !== 'flame' || state.dir !== 'down' || isOutline();
	for (const g of Object.values(graphs)) g.hit = page.found?.hit ?? null;
}

/** Where the matches are, also those too narrow to be seen. */
function drawStrip() {
	const strip = $('strip'), t = page.graph, r = window.devicePixelRatio || 1;
	strip.hidden = !page.found || state.v !== 'flame' || state.dir !== 'down' || isOutline();
	if (strip.hidden) return;
	const w = strip.clientWidth, c = strip.getContext('2d'), p = colours();
	strip.width = w * r;
	strip.height = 6 * r;
	c.scale(r, r);
	c.fillStyle = p.panel;
	c.fillRect(0, 0, w, 6);
	c.fillStyle = p.match;
	for (const i of page.found.drawn) c.fillRect(t.x[i] / t.total[0] * w, 0, Math.max(2, t.total[i] / t.total[0] * w), 6);
}

function nextMatch(by) {
	if (!page.found || $('steps').hidden) return;
	const nodes = page.found.drawn, g = graphs.main;
	showTip(null);
	match = (match + by + nodes.length) % nodes.length;
	g.reveal(nodes[match]);
	g.select(nodes[match]);
	$('found').textContent = `${shareText(page.found.samples, page.n, page.blocks.ofNodes(page.found.nodes))} · ${match + 1} of ${int(nodes.length)}`;
}

function renderFlame() {
	const g = graphs.main, { profile: frames } = page, least = page.n * 0.0004, isSandwich = state.dir === 'sandwich';
	drawStrip();
	$('no-chains').hidden = profile.head.chains;
	if (profile.head.no_chains) $('no-chains').textContent = `The call chains cannot be read (${visible(profile.head.no_chains)}), so functions are directly below their applications.`;
	$('no-roots').hidden = !state.r || Boolean(rootsShown());
	$('no-roots').replaceChildren(...$('no-roots').hidden ? [] : [showMissing(page, state.r)]);
	$('callers').hidden = $('middle').hidden = !isSandwich;
	$('path').hidden = isSandwich || isOutline();
	$('graph').hidden = isOutline();
	$('outline').hidden = !isOutline();
	g.turn(!isSandwich && hasOption('flame'));
	g.o.first = isSandwich ? 1 : 0;
	if (state.dir === 'down') {
		const same = g.tree && g.tree.func === page.graph.func;
		g.set(page.graph, same);
		if (state.z || !same) g.zoom(nodeOf(page.graph, state.z.split('\t').filter(Boolean)), true);
		else g.zoom(0, true);
		if (!same && page.picked > 0) g.selected = Math.max(0, page.graph.func.indexOf(page.picked));
		showPath(g, g.zoomed || 0);
	} else if (state.dir === 'up') {
		g.set(frames.bottomUp(page.graph, least));
		showPath(g, 0);
	} else {
		const f = page.picked > 0 ? page.picked : hottest(), s = frames.sandwich(page.graph, f, least);
		$('middle').textContent = `▲ callers · ${fullName(frames, f)}: ${shareText(s.total, page.n, page.blocks.ofTotal(f))} · callees ▼`;
		graphs.callers.set(s.callers);
		g.set(s.callees);
	}
	if (isOutline()) showOutline(g.tree);
	g.later();
	showDetail(g, g.selected, g.tree.func[g.selected]);
	if (page.picked === 0 && state.fn) page.picked = Math.max(0, frameOf(frames, findKey(profile, state.fn)));
}

/** Shows a graph, with the root at the bottom if isFlame. */
function grow(isFlame) {
	go({ opt: optionsWith('flame', isFlame, isOutline() ? asTable(false) : state.opt) });
}

/** Whether the tree is shown as a table. That of callers is one at first: as a graph, a flat profile is a million of slivers. */
function isOutline() {
	return state.v === 'flame' && (state.dir === 'up' ? !hasOption('graph') : state.dir === 'down' && hasOption('table'));
}

/** The options with which the tree of a direction is a table, or not. */
function asTable(isTable, dir = state.dir) {
	return dir === 'up' ? optionsWith('graph', !isTable) : optionsWith('table', isTable);
}

/** Shows the tree as a table, or the table as a graph. */
function turnTable() {
	const isTree = state.v === 'flame' && state.dir !== 'sandwich', dir = state.dir === 'sandwich' ? 'down' : state.dir;
	go({ v: 'flame', dir, opt: asTable(!isTree || !isOutline(), dir) });
}

function showOutline(tree) {
	const isUp = state.dir === 'up';
	if (outline?.o.isUp !== isUp) {
		$('outline').replaceChildren();
		outline = new Outline($('outline'), { label: 'Call chains', isUp, page: () => page, onOpen: r => page.open(r.f),
			onPick: r => {
				graphs.main.selected = r.i;
				showDetail(graphs.main, r.i, r.f);
			} });
	}
	outline.show(tree);
}

function hottest() {
	const { profile: frames } = page;
	let best = 1;
	for (let f = 1; f < frames.count - 1; f++)
		if (frames.func.kind[f] && !frames.others.has(f) && page.functions.self[f] > page.functions.self[best]) best = f;
	return best;
}

/** Whose source is shown: { isB, profile, view (the samples of its window), window, words (that select it) }. */
function sideOfSource() {
	const isB = Boolean(page.B) && state.side === 'B', p = (isB ? second : profile.before) ?? profile;
	return { isB, profile: p, view: isB ? page.B : page, window: isB ? page.other : page.window };
}

/** The name of a function as a pattern of opreport and opannotate; of an inlined one, that of the function which
 * Source shows for it. */
function patternOf(f) {
	const code = sideOfSource().profile.codeOf(f), isWithin = source?.wanted?.f === f && source.code.address !== code.address;
	const name = isWithin ? source.code.link : profile.func.link[f] ?? profile.func.name[f] ?? '';
	return `${name.replace(/,/g, '\\,')}[${visible(code.image ?? '')}]`;
}

/** The functions with the most own samples that may have code to show, the hottest first. */
function hottestCode(most) {
	const { kind } = profile.func, { profile: p, view: { functions: { self } } } = sideOfSource(), list = [];
	for (let f = 1; f < profile.count - 1; f++) if (self[f] && kind[f] !== KIND_KERNEL && p.hasSymbol(f)) list.push(f);
	return list.sort((a, b) => self[b] - self[a] || a - b).slice(0, most);
}

/** The function that Source is about. The kernel's code is rarely there. */
function sourceFunction() {
	return page.picked > 0 ? page.picked : hottestCode(1)[0] ?? hottest();
}

/** Offers the hottest functions of the window. */
function offerHottest(shown) {
	const list = hottestCode(HOTTEST_OFFERED), { view: { functions, n } } = sideOfSource();
	if (!list.includes(shown)) list.unshift(shown);
	$('hot').replaceChildren(...list.map(f => el('option', { value: f, selected: f === shown },
		`${pct(functions.self[f] / n)} %  ${shortName(profile, f)} · ${imageName(profile, f)}`)));
}

/** The words that select the samples of a side, with its window. */
function sideWords(p, window) {
	const text = window ? windowText(window, p) : '';
	return (p === profile ? selectionWords(text ? ['time'] : []) : visible(p.head.selection)) + (text ? ` time:${text}` : '');
}

/** Which of two profiles or windows the source is of, and what prints that of both. */
function sourceOfOne(f) {
	const { isB } = sideOfSource(), both = `opannotate -s -i ${shellWord(patternOf(f))} { ${sideWords(profile, page.window)} } { ${sideWords(second ?? profile, page.other)} }`;
	return [`The code and the samples are those of ${isB ? `B, ${second ? secondLabel() : windowLabel(page.other)}` : `A, ${firstLabel()}`}. `, el('span', { class: 'wide' }, `Of both: ${both.replace(/ +/g, ' ')}. `)];
}

/** Buttons for the functions that call a function: where its time is spent may be theirs to say. */
function callersNote({ tree, functions }, f) {
	const callers = profile.callersOf(tree, f).filter(([by]) => by && !SPECIAL_KINDS.includes(profile.func.kind[by])).slice(0, CALLERS_OFFERED);
	return callers.length ? [' Called by ', callers.flatMap(([by, k]) => [el('button', { type: 'button', title: `Source of ${fullName(profile, by)}`,
		onclick: () => go({ fn: profile.key[by] }) }, `${shortName(profile, by)} · ${imageName(profile, by)} ${pct(k / functions.total[f])} %`), ' '])].flat() : [];
}

/** What is said above the source. The sources in a saved page are those of the whole profile. */
function sourceNote(f, address, isKept) {
	const { view, isB } = sideOfSource(), other = isB ? page : page.B;
	if (second && !isServed && isB) return 'A saved page has no source of B. The command below prints it.';
	if (!address && second && other.functions.total[f] && !view.functions.total[f]) return isB ? 'Only A has samples in this function.' : `Only B, ${secondLabel()}, has samples in this function.`;
	if (!address) return 'This function has no symbol.';
	return [...page.B ? sourceOfOne(f) : [], sourceLimits(isKept), ...callersNote(view, f)];
}

/** What the source does not have, or what does not apply to it. */
function sourceLimits(isKept) {
	if (!isServed && !isKept) {
		return `A saved page has the source of ${int(sources.functions.size)} of the hottest functions${sources.functions.size < sources.wanted ? ', as many as fit' : ''}. ` +
			'This is none of them; the command below prints it.';
	}
	const { window } = sideOfSource();
	if (page.chosen.length || page.mask || (window && !isServed))
		return `All samples of the function: ${!isServed && window ? 'a saved page has no source of a window, and ' : ''}filters do not apply here.`;
	return '';
}

/** Shows the source of the chosen function, or the hottest one, in the window: from the page, or the server. */
function renderSource() {
	const f = sourceFunction(), { isB, profile: p, window } = sideOfSource(), { address, image } = p.codeOf(f);
	const kept = p === profile ? sources.functions.get(`${address}/${image}`) : undefined;
	const question = `${address}/${window && isServed ? windowText(window, p) : 'all'}/${image}`, session = p === profile ? null : secondOf.session;
	const wanted = session === null ? question : `second ${question}`, isShown = asked === wanted;
	$('sides').hidden = !page.B;
	for (const side of ['A', 'B']) $('side-' + side).setAttribute('aria-pressed', String(isB === (side === 'B')));
	source ||= new Source($('source'));
	offerHottest(f);
	$('source-note').replaceChildren(...[sourceNote(f, address, kept)].flat());
	if (address && isShown) return;
	clearTimeout(asking);
	asked = address && (isServed || kept) ? wanted : '';
	$('source').replaceChildren(asked && !kept ? el('p', { class: 'dim' }, 'reading the code…') : '');
	document.body.dataset.source = '';
	if (kept) showSource(kept, f);
	else if (asked) asking = setTimeout(() => askSource(question, f, session), ASK_DELAY_MS);
}

function showSource(code, f) {
	const { profile: p, view } = sideOfSource(), { address, image } = p.codeOf(f);
	source.show(code, { ...page, before: isServed ? view.before : p.head.samples }, { f, name: fullName(profile, f), image: visible(image ?? ''), address });
	showCommand();
	document.body.dataset.source = asked;
}

/** Shows the answer to a question about function f of a side if it is still the wanted one. */
async function askSource(question, f, session) {
	const wanted = asked;
	try {
		const code = await loadSource(question, profile.head.event_key, session);
		if (asked !== wanted) return;
		showSource(code, f);
	} catch (e) {
		if (asked !== wanted) return;
		$('source').replaceChildren(el('p', { class: 'warn' }, visible(e.message)));
		asked = '';
	}
	document.body.dataset.source = asked;
}

/** What one of two profiles is called: the words that select it or, if there are none, where it is read from. */
function selectionLabel(p, otherwise) {
	const text = visible(p.head.selection), option = / --(?:'(?:[^']|'\\'')*'|\S)+/g;
	return text.replace(option, '').trim() || (text.match(option) ?? []).map(word => word.replace(/^ --[^=]*=/, '')).join(' ') || otherwise;
}

function secondLabel() {
	return secondOf.session ? `session ${visible(secondOf.session)}` : selectionLabel(second, 'the second profile');
}

function firstLabel() {
	return second && !page.window && !secondOf.session ? selectionLabel(profile, 'the first profile') : windowLabel(page.window);
}

/** Reads the profile to compare with that the state names, if it is another one, and shows it. */
async function chooseSecond() {
	const wanted = state.c, isGiven = profile.head.has_second && !wanted;
	if (profile.head.applications_only || (secondOf.session === wanted && (second || secondOf.trouble || secondOf.isReading || !isGiven))) return;
	second = null;
	remembered.clear();
	secondOf = { session: wanted, trouble: '', isReading: Boolean(wanted || isGiven) };
	if (!secondOf.isReading) return;
	const own = secondOf;
	try {
		const found = await loadSecond(state.e, wanted);
		if (own !== secondOf) return;
		if (!found) throw new Error('this page does not have it');
		if (found.head.event !== profile.head.event) throw new Error(`its samples are of another event: ${found.head.event}`);
		chooseProfile(loaded);
		second = joinProfiles(profile, found);
		series = null;
		remembered.clear();
		reshaped.clear();
	} catch (e) {
		if (own !== secondOf) return;
		own.trouble = `The second profile cannot be compared: ${visible(e.message.trim())}`;
	}
	own.isReading = false;
	render();
}

/** Asks the server for the source files of functions, if something depends on them, and shows them. */
async function chooseFiles() {
	const own = filesOf, p = loaded, b = second, session = secondOf.session;
	if (p.files || p.head.applications_only || !needsFiles() || own.isReading || own.trouble) return;
	own.isReading = true;
	try {
		p.takeFiles(await loadFiles(p.head.event_key));
		if (b) b.takeFiles(await loadFiles(p.head.event_key, session));
		if (b) p.files = b.files = joinFiles(p, b);
	} catch (e) {
		own.trouble = `The source files of functions cannot be shown: ${visible(e.message.trim())}`;
	}
	if (p !== loaded || own !== filesOf) return;
	own.isReading = false;
	delete p.late.builds; // it has no files
	if (b !== second) p.files = null; // another profile to compare with has other functions
	render();
}

/** The tree whose nodes have the sum of their shares in two views, as totals. It is kept. */
function treeOfBoth(view, B) {
	if (view.both?.B !== B) {
		const shares = new Float64Array(view.tree.n), { total: a } = view.tree, { total: b } = B.tree, { n } = view, { n: m } = B;
		for (let i = 0; i < shares.length; i++) if (a[i] || b[i]) shares[i] = a[i] / n + b[i] / m;
		view.both = { B, tree: view.tree.withSelf(null, shares) };
	}
	return view.both.tree;
}

function renderDifference() {
	$('diff-none').hidden = Boolean(page.B);
	$('diff-some').hidden = !page.B;
	if (!page.B) return offerWindows();
	graphs.diff.turn(hasOption('flame'));
	graphs.diff.set(treeOfBoth(page.view, page.B), graphs.diff.tree?.func === page.tree.func);
	showDifference(page, $('diff-table'), $('diff-note'));
}

/** Nothing to compare with: offers what there is. */
function offerWindows() {
	const offers = [], n = profile.steps, w = page.window;
	if (w && w[0] > 0) offers.push(['the same stretch before', w, [Math.max(0, 2 * w[0] - w[1]), w[0]]]);
	if (n > 1) offers.push(['the first and the last half', [0, n >> 1], [n >> 1, n]]);
	const { other_sessions: sessions = [], more_sessions: more = 0 } = profile.head;
	if (secondOf.isReading) return $('diff-none').replaceChildren(el('p', {}, 'reading the second session…'));
	$('diff-none').replaceChildren(el('p', {}, el('b', {}, 'Nothing to compare with yet.')),
		secondOf.trouble ? el('p', { class: 'warn' }, secondOf.trouble) : '',
		el('p', {}, n > 1 ? 'Press Compare… and drag over a second stretch of the timeline, or take' :
			'This session has no history of its samples, so there is only one window.'),
		n > 1 || sessions.length ? '' : el('p', {}, 'Compare two sessions with ', el('code', {}, 'opweb { … } { … }'), ', or in a file with ', el('code', {}, 'opreport --html=FILE { … } { … }'), '.'),
		...offers.map(([text, a, b]) => el('button', { type: 'button', onclick: () => go({ a: windowText(a), b: windowText(b) }) }, text)),
		...sessions.length ? [el('p', {}, `${n > 1 ? 'Or compare' : 'Compare'} this session (A) with another one (B):`),
			el('p', { class: 'events' }, sessions.map(name => el('button', { type: 'button', 'data-session': name, onclick: () => go({ c: name, b: '' }) }, visible(name)))),
			more ? el('p', {}, `${int(more)} more sessions are not listed here: name one with opweb { … } { session:NAME }.`) : ''] : []);
}

/** The functions of the filters as opreport takes them; null if it cannot tell them from others. */
function filterList(chosen) {
	const { kind, link, name } = profile.func, images = chosen.map(f => imagePath(profile, f.f));
	const names = chosen.map(f => link[f.f] ?? name[f.f] ?? '');
	const isClear = chosen.every(({ f, key, profile: of }, i) => of === profile && !SPECIAL_KINDS.includes(kind[f]) && key.endsWith(names[i]) &&
		!profile.byKey.has(key + '·2') && names[i] === visible(names[i]) && !/[*?[\]\\·]/.test(names[i]) && images[i] && !/[*?[\]\\,]/.test(images[i]));
	return isClear ? names.map((text, i) => `${text.replace(/,/g, '\\,')}[${images[i]}]`).join() : null;
}

function isApplicationInFocus({ verb, f, profile: of }) {
	return verb === 'focus' && of === profile && profile.func.kind[f] === KIND_APPLICATION;
}

/** The only application in focus as a word of a specification; '' if there is none, or if the word could mean others. */
function applicationWord() {
	const list = page.chosen.filter(isApplicationInFocus), path = (list.length === 1 && imagePath(profile, list[0].f)) || '';
	const isPlain = path.startsWith('/') && path === visible(path) && !/[*?[\]\\,#]/.test(path);
	return isPlain && (['flame', 'functions'].includes(state.v) || (state.v === 'overview' && state.g === 'application')) ? ` ${shellWord('image:' + path)}` : '';
}

/** The filters as options of opreport; null if none give the same numbers. With an application that is a word, the others. */
function filterOptions(application = '') {
	const filters = application ? page.chosen.filter(f => !isApplicationInFocus(f)) : page.chosen;
	let words = '';
	if ((hasOption('merge') && state.v === 'flame') || framesShown() !== 'function') return null;
	if (!filters.length) return words;
	if (!profile.head.chains || !['flame', 'functions'].includes(state.v)) return null;
	for (const verb of ['focus', 'hide', 'drop']) {
		const chosen = filters.filter(f => f.verb === verb), list = filterList(chosen);
		if (list === null || (verb === 'focus' && chosen.length > 1)) return null;
		if (list) words += ` --${verb}=${shellWord(list)}`;
	}
	return words;
}

/** The options of opreport that add samples up as Overview does. */
const SUMMARIES = { application: '--merge=cgroup,comm,cpu,tid,tgid', image: '--merge=all', cgroup: '--merge=comm,cpu,tid,tgid', process: '--merge=cgroup,comm,cpu,tid', thread: '--merge=cgroup,comm,cpu',
	cpu: '--merge=cgroup,comm,tid,tgid' };

/** What a table of groups is of; '': no such table is shown. */
function groupingShown() {
	return state.v === 'overview' ? state.g : state.v === 'functions' && state.by !== 'function' ? state.by : '';
}

/** The specification of the page without these tags, which the caller adds: a tag is given once. */
function selectionWords(tags) {
	return tags.reduce((words, tag) => words.replace(new RegExp(` (?:'${tag}:(?:[^']|'\\\\'')*'|${tag}:\\S+)`, 'g'), ''), visible(profile.head.selection));
}

/** Rows by symbol, without a column for each task. */
function flatForm() {
	return profile.tasks.length || /\b(cgroup|comm|thread|cpu)\b/.test(profile.head.separate ?? '') ? `-l ${SUMMARIES.application}` : '-l';
}

/** The command that prints the same numbers, or in Difference compares the same windows; '' if there is none. */
function command() {
	const grouping = groupingShown();
	const tasks = state.v === 'source' ? '' : taskWords(), chosen = tasks ? chosenTasks().map(c => TAGS[c.part]) : [];
	const application = applicationWord(), tags = [...chosen, ...page.window ? ['time'] : [], ...application ? ['image'] : []];
	const where = selectionWords(tags) + (tasks ?? '') + application, time = w => (w ? ` time:${windowText(w)}` : ''), general = visible(profile.head.options);
	if (tasks === null || (grouping && !hasGrouping(profile, grouping))) return '';
	if (state.v === 'source' && patternOf(sourceFunction()) !== visible(patternOf(sourceFunction()))) return '';
	const side = sideOfSource(), ofSide = sideWords(side.profile, isServed ? side.window : null);
	if (state.v === 'source') return `opannotate -s -a --merge=all${source?.hasTotals && asked ? ' --children' : ''}${general.replace(' --inlines', '')} -i ${shellWord(patternOf(sourceFunction()))} ${ofSide}`.replace(/ +/g, ' ').trim();
	const options = filterOptions(application);
	const isMissing = profile.head.hidden && page.isPart && (grouping ? grouping !== 'application' : state.v === 'functions');
	if (options === null || isMissing || (grouping && (grouping === 'kind' || (state.v === 'functions' && grouping === 'image')))) return '';
	const summary = SUMMARIES[grouping] ?? '';
	if (state.v === 'diff' && !page.B) return '';
	if (state.v === 'diff') return `opreport ${flatForm()}${general} { ${where}${time(page.window)} } { ${second ? visible(second.head.selection) + (tasks ?? '') : where}${second ? '' : time(page.other)} }`.replace(/ +/g, ' ');
	const form = { flame: '--chains', functions: grouping ? summary : '--children', overview: summary, quality: '--children --quality', diff: '--children' };
	const shown = profile.head.chains ? form[state.v] : grouping ? summary : flatForm();
	return `opreport ${shown}${grouping ? '' : general}${options}${where}${time(page.window)}`.replace(/ +/g, ' ');
}

function showCommand() {
	const text = command();
	$('command').textContent = text;
	$('copy').hidden = !text;
	$('same').textContent = text ? 'same numbers:' : state.v === 'diff' && !page.B ? '' : 'no command of opreport gives these numbers';
}

/** Whether what is to be shown is known: of applications alone, and of files. */
function isKnown() {
	return profile.head.applications_only ? (state.v === 'overview' && !state.f && !['image', 'kind'].includes(state.g)) : !filesOf.isReading;
}

/** Shows that functions are not known yet. */
function renderReading() {
	const isReading = !isKnown();
	$('reading').hidden = !isReading && !(filesOf.trouble && needsFiles());
	$('export').hidden = Boolean(profile.head.applications_only);
	$('reading').textContent = filesOf.isReading ? 'reading which source file each function is in…' : filesOf.trouble || `reading the call chains of ${amount(profile.head, profile.head.samples)}…`;
	if (!isReading) return;
	$('v-' + state.v).hidden = $('tools').hidden = $('detail').hidden = true;
	$('amount').textContent = $('command').textContent = $('same').textContent = $('drawn').textContent = '';
	$('copy').hidden = true;
}

let isMarked = false;

/** Notes when the first view is on the screen: in the task after its frame. bench/pages reads it. */
function markShown() {
	if (!isMarked) requestAnimationFrame(() => setTimeout(() => performance.mark('shown')));
	isMarked = true;
}

function render() {
	void chooseSecond();
	void chooseFiles();
	void readEvents();
	compute();
	search();
	renderBar();
	renderTabs();
	if (timeline) {
		timeline.windows = { A: page.window, B: second ? null : page.other };
		timeline.draw();
	}
	renderReading();
	document.body.dataset.shown = isKnown() ? state.v : '';
	if (!isKnown()) return;
	markShown();
	if (state.v === 'flame') renderFlame();
	else if (state.v === 'functions') showFunctions(page, $('functions'), $('functions-note'));
	else if (state.v === 'overview') showOverview(page, $('v-overview'));
	else if (state.v === 'quality') showQuality(page, $('v-quality'));
	else if (state.v === 'diff') renderDifference();
	else if (state.v === 'source') renderSource();
	$('detail').hidden = ['overview', 'quality', 'source'].includes(state.v) || (state.v === 'diff' && !page.B);
	if (state.v === 'functions' || (state.v === 'diff' && page.B)) showDetail(null, 0, Math.max(0, page.picked));
	showCommand();
	document.title = `${VIEWS[state.v]} · ${$('what').textContent || 'OProfile'}`;
	if (!page.n) say('No samples in this window with these filters.');
	document.body.dataset.second = second ? secondOf.session || 'given' : '';
	if (profile.head.applications_only) return;
	document.body.dataset.ready = state.v;
	prepareSoon();
}

/** What two windows need. */
const ARRAYS_PREPARED = 4;
let preparing = 0;

/** Takes memory for the next windows while nothing else is to be done. */
function prepareSoon() {
	const { zeros } = profile;
	if (!window.requestIdleCallback) return; // in Safari
	cancelIdleCallback(preparing);
	preparing = requestIdleCallback(() => { if (!zeros.prepare(ARRAYS_PREPARED)) prepareSoon(); });
}

// --- beginning ---

/** Adds the samples of the timeline up by what the state says. */
function makeSeries() {
	const by = hasGrouping(profile, state.g) ? state.g : 'application';
	if (series?.by === by) return;
	series = { ...profile.series(GROUPS_SHOWN, by), by };
	if (!timeline) return;
	timeline.o.rows = series.rows;
	makeLegend();
}

function makeTimeline() {
	const s = profile.head.steps, { hz, unit } = profile.head;
	makeSeries();
	$('over').hidden = !s;
	if (!s) return;
	const host = $('timeline').cloneNode(); // without the listeners of a timeline before
	$('timeline').replaceWith(host);
	annotations = annotationsOf(profile);
	const gaps = annotations.filter(a => a.kind === 'gap').map(a => [a.step, a.end]);
	const seconds = i => (s.covered_ms[i] || s.length_ms) / 1000;
	timeline = new Timeline(host, { steps: s.count, spans: spansOf(s), rows: series.rows, shed: profile.shed, gaps, marks: annotations, label: stepTime, palette: colours,
		rate: (samples, i) => samples / seconds(i) / (hz || 1),
		unit: v => (v ? (hz ? `${+v.toFixed(2)} CPU` : unit === 'us' ? `${+(v / 1000).toPrecision(2)} ms/s` : `${+v.toPrecision(2)}/s`) : '0'),
		comparing: () => isComparing, onChange: windowChanged, onHover: timelineTip });
	makeLegend();
}

function makeLegend() {
	const names = groupNames(profile, series.by, series.top);
	const legend = series.top.map((g, k) => el('span', {}, swatch(colours().apps[k]), `${names[k]} ${pct(series.sums.get(g) / profile.head.samples)} %`));
	if (series.others > 0) legend.push(el('span', {}, swatch(colours().apps[8]), `${int(series.others)} others`));
	if (annotations.some(a => a.kind === 'lost')) legend.push(el('span', {}, el('i', { class: 'swatch lost' }), 'samples lost'));
	if (profile.shed?.some(Boolean)) legend.push(el('span', {}, el('i', { class: 'swatch shed' }), 'chains shed'));
	if (timeline.o.gaps.length) legend.push(el('span', {}, el('i', { class: 'swatch gap' }), 'nothing recorded'));
	$('legend').replaceChildren(...legend);
}

function windowChanged(which, window, done) {
	const change = { [which.toLowerCase()]: window ? windowText(window) : '' };
	if (done && which === 'B') {
		isComparing = false;
		change.v = 'diff';
	}
	writeState(change, done);
	if (done) say('');
	cancelAnimationFrame(timeline.next);
	timeline.next = requestAnimationFrame(render);
}

function timelineTip(event, step) {
	if (!event || !(step >= 0)) return showTip(null);
	const rows = series.rows.map((row, k) => [k, row[step]]).filter(r => r[1]).sort((a, b) => b[1] - a[1]).slice(0, 6);
	const names = groupNames(profile, series.by, series.top), name = k => (k < series.top.length ? names[k] : `${series.others} others`);
	const recorded = profile.head.steps.recorded[step];
	showTip(event, el('div', { class: 'dim' }, `${stepTime(step)} to ${stepTime(step + 1)}, UTC${recorded ? '' : ': nothing recorded'}`),
		...annotations.filter(a => a.kind !== 'gap' && step >= a.step && step < a.end).map(a => el('div', {}, a.text)),
		el('table', {}, rows.map(([k, n]) => el('tr', {}, el('td', {}, swatch(colours().apps[k < series.top.length ? k : 8]), name(k)), el('td', {}, timeOf(n)))),
			profile.shed?.[step] ? el('tr', {}, el('td', {}, el('i', { class: 'swatch shed' }), 'chains shed'), el('td', {}, timeOf(profile.shed[step]))) : null));
}

function makeGraphs() {
	const make = (name, id, label, flip) => {
		graphs[name] = new Flame($(id), { label, flip, first: flip ? 1 : 0, palette: colours, colour: frameColour,
			name: (f, i) => {
				const d = name === 'diff' && i ? frameDifference(page, i) : null;
				return (d && frameMark(d) ? frameMark(d) + ' ' : '') + shortName(page.profile, f);
			},
			title: i => (name === 'diff' ? `A ${pct(page.tree.total[i] / page.n)} %, B ${pct(page.B.tree.total[i] / page.B.n)} %` :
				amount(profile.head, graphs[name].tree.total[i])),
			onHover: (i, e) => frameTip(graphs[name], i, e),
			onSelect: i => showDetail(name === 'diff' ? null : graphs[name], i, graphs[name].tree.func[i]),
			onZoom: i => { if (name === 'main' && state.dir === 'down') zoomed(graphs[name], i); else if (name === 'main') showPath(graphs[name], i); },
			onDraw: s => { if (name !== 'callers') $('drawn').textContent = `${int(s.frames)} frames drawn` + (s.small ? `, ${int(s.small)} narrower than ½ px in grey` : ''); } });
	};
	make('main', 'graph', 'Flame graph: arrow keys move, Enter zooms', false);
	make('callers', 'callers', 'Callers', true);
	make('diff', 'diff-graph', 'Flame graph of both windows', false);
}

const KEYS = [['1 … 6', 'views'], ['/', 'search; Enter and Shift-Enter go to matches'], ['arrows', 'parent, child, siblings of a frame'],
	['Enter', 'zoom; in a table: callers + callees'], ['Backspace, 0, Esc', 'zoom out one frame, show all'],
	['+ −, Ctrl-wheel', 'scale'], ['t b s', 'top-down, bottom-up, callers + callees'], ['i', 'icicle or flame: the root at the top or at the bottom'], ['T', 'the graph as a table; there, → and ← unfold and fold a row'], ['g', 'frames are functions, images, classes or source files: the next one'],
	['f h x', 'focus: only chains with the function; hide: chains stay, the function goes; drop: such chains go'], ['u', 'undo the last filter'],
	['S', 'source of the function; n and p: next and previous hot line'], ['c', 'choose a window to compare with'], ['m', 'fold the timeline'], ['y Y', 'copy the name, the command'], ['e', 'export'], ['q', 'quality'], ['d', 'dark or light'],
	['← → on a handle', 'move the end of a window; Shift moves the window']];

function showKeys() {
	$('keys').replaceChildren(el('b', {}, 'Keys'), el('dl', {}, KEYS.flatMap(([k, what]) => [el('dt', {}, k), el('dd', {}, what)])),
		el('p', { class: 'dim' }, 'The graph merges equal chains; the order of its frames is not one of time. Times are UTC.'),
		el('button', { type: 'button', onclick: () => $('keys').close() }, 'Close'));
	$('keys').showModal();
}

function setTheme(name) {
	document.documentElement.dataset.theme = name;
}

function switchTheme() {
	const next = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
	setTheme(next);
	writeState({ theme: next }, false);
	makeLegendAgain();
	render();
}

function makeLegendAgain() {
	const swatches = $('legend').querySelectorAll('.swatch:not(.gap):not(.lost):not(.shed)');
	swatches.forEach((s, k) => { s.style.background = colours().apps[k < series.top.length ? k : 8]; });
}

function compare() {
	isComparing = !isComparing;
	if (isComparing) say('Drag over the timeline: the window to compare with.');
	renderBar();
}

function typed(e) {
	if (e.key === 'Escape') $('search').blur();
	if (e.key === 'Enter') nextMatch(e.shiftKey ? -1 : 1);
}

function download(name, blob) {
	const a = /** @type {HTMLAnchorElement} */ (el('a', { download: name }));
	a.href = URL.createObjectURL(blob);
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

/** Compresses bytes as gzip. */
function packed(bytes) {
	// @ts-ignore: TypeScript 4.8 does not know it
	return new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'))).blob();
}

/** The command that makes such a file of the window and the filters; '' if there is none. */
function exportCommand(form) {
	const isStacks = /^--(folded|pprof)/.test(form), options = page.chosen.length || hasOption('merge') || framesShown() !== 'function' ? filterOptions() : '', text = profile.head.options;
	if (!form || options === null || taskWords() === null || (isStacks && (!profile.head.chains || hasOption('merge')))) return '';
	if ((profile.head.hidden && (page.isPart || isStacks)) || (form.startsWith('--pprof') && options)) return '';
	return `opreport ${form}${visible(text)}${options} ${visible(profile.head.selection)}${taskWords()}${page.window ? ` time:${windowText(page.window)}` : ''}`
		.replace(/ +/g, ' ').trim();
}

/** Offers what is shown as files. */
function showExports() {
	if (profile.head.applications_only) return;
	const graph = { flame: isOutline() ? null : graphs.main, diff: page.B ? graphs.diff : null }[state.v], rows = profile.head.chains ? '--children' : '-l';
	const offers = /** @type {any[]} */ ([['Folded stacks', 'folded.txt', rootsShown() ? '' : '--folded', async () => foldedOf(page)], ['pprof', 'profile.pb.gz', '--pprof=profile.pb.gz', () => packed(pprofOf(page))],
		['Functions, CSV', 'functions.csv', rows + ' --csv', async () => csvOf(page)], ['Functions, JSON', 'functions.json', rows + ' --json', async () => jsonOf(page)]]);
	if (graph) offers.unshift(['Graph, SVG', 'flame-graph.svg', '', async () => graph.svg(`${command()} ${location.hash}`)],
		['Graph, PNG', 'flame-graph.png', '', () => new Promise(done => { graph.canvas.toBlob(done); })]);
	const row = ([title, file, form, make]) => {
		const text = exportCommand(form);
		return [el('dt', {}, el('button', { type: 'button', 'data-file': file, onclick: async () => download(file, new Blob([await make()])) }, title)),
			el('dd', {}, text ? el('code', {}, text) : el('span', { class: 'dim' }, form ? 'no command of opreport gives it' : 'only from a page'),
				text ? el('button', { type: 'button', 'aria-label': `Copy the command for ${title}`, onclick: () => copy(text) }, 'copy') : null)];
	};
	$('exports').replaceChildren(el('b', {}, 'Export'), el('p', { class: 'dim' }, 'The window and the filters that are shown, for other programs; a search leaves nothing out. ' +
		'The commands give the same samples; the whole page is opreport --html=FILE.'),
	el('dl', {}, offers.flatMap(row)), el('button', { type: 'button', onclick: () => $('exports').close() }, 'Close'));
	$('exports').showModal();
}

function onKey(e) {
	if (/INPUT|SELECT|TEXTAREA/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey || $('keys').open || $('exports').open) return;
	const views = Object.keys(VIEWS), f = page.picked;
	const acts = { '/': () => { $('search').focus(); $('search').select(); }, t: () => go({ v: 'flame', dir: 'down' }), b: () => go({ v: 'flame', dir: 'up' }),
		s: () => go({ v: 'flame', dir: 'sandwich' }), i: () => grow(!hasOption('flame')), d: switchTheme, S: () => go({ v: 'source' }), n: () => source?.step(1), p: () => source?.step(-1), q: () => go({ v: 'quality' }), e: showExports, c: compare, '?': showKeys,
		f: () => addFilter('focus', f), h: () => addFilter('hide', f), x: () => addFilter('drop', f),
		u: () => { if (filters().length) removeFilter(filters().pop()); else if (chosenTasks().length) removeTask(chosenTasks().pop()); }, m: () => { $('over').hidden = !$('over').hidden; },
		y: () => { if (f > 0) copy(fullName(page.profile, f)); }, g: nextFrames, T: turnTable, Y: () => { if (command()) copy(command()); }, Escape: () => showTip(null) };
	const act = acts[e.key] || (e.key >= '1' && e.key <= String(views.length) ? () => go({ v: views[Number(e.key) - 1] }) : null);
	if (!act) return;
	e.preventDefault();
	act();
}

function listen() {
	let typing = 0;
	for (const d of ['down', 'up', 'sandwich']) $('dir-' + d).onclick = () => go({ dir: d, z: '' });
	for (const side of ['A', 'B']) $('side-' + side).onclick = () => go({ side });
	$('col').onchange = () => go({ col: $('col').value });
	$('by').onchange = () => go({ by: $('by').value });
	$('merge-by').onchange = () => chooseFrames($('merge-by').value);
	$('root-of').onchange = () => chooseRoots($('root-of').value);
	$('merge').onchange = () => mergeRecursion($('merge').checked);
	$('grow-down').onclick = () => grow(false);
	$('grow-up').onclick = () => grow(true);
	$('as-table').onclick = () => go({ opt: asTable(true) });
	$('search').oninput = () => {
		clearTimeout(typing);
		typing = setTimeout(() => {
			writeState({ q: $('search').value }, false);
			search();
			drawStrip();
			for (const g of Object.values(graphs)) g.later();
			outline?.draw(true);
			if (state.v === 'functions') showFunctions(page, $('functions'), $('functions-note'));
			if (state.v === 'diff' && page.B) showDifference(page, $('diff-table'), $('diff-note'));
		}, 90);
	};
	$('search').onkeydown = typed;
	$('previous').onclick = () => nextMatch(-1);
	$('next').onclick = () => nextMatch(1);
	$('compare').onclick = compare;
	$('quality').onclick = () => go({ v: 'quality' });
	$('theme').onclick = switchTheme;
	$('help').onclick = showKeys;
	$('copy').onclick = () => copy(command());
	$('hot').onchange = () => go({ fn: profile.key[Number($('hot').value)] });
	$('event').onchange = () => chooseEvent($('event').value);
	$('export').onclick = showExports;
	addEventListener('popstate', () => {
		const event = state.e;
		readState();
		if (state.e !== event) return location.reload();
		state.v ||= firstView();
		setTheme(state.theme || preferredTheme());
		render();
	});
	addEventListener('keydown', onKey);
	addEventListener('resize', drawStrip);
}

function makeTabs() {
	const views = Object.keys(VIEWS);
	for (const v of views)
		$('tabs').append(el('button', { id: 't-' + v, type: 'button', role: 'tab', 'aria-controls': 'v-' + v, onclick: () => go({ v }) }, VIEWS[v]));
	$('tabs').addEventListener('keydown', e => {
		const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
		if (!by) return;
		go({ v: views[(views.indexOf(state.v) + by + views.length) % views.length] });
		$('t-' + state.v).focus();
	});
}

function preferredTheme() {
	return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** What is shown at first: who used the machine, if the profile is long or not mostly of one application. */
function firstView() {
	if (profile.head.has_second) return 'diff';
	const most = Math.max(0, ...series.sums.values()), isMixed = most < MOSTLY * profile.head.samples;
	return profile.steps && series.sums.size > 1 && (isMixed || profile.steps > 60) ? 'overview' : profile.head.chains ? 'flame' : 'functions';
}

/** Offers the events, if there are several. */
function makeEvents() {
	const { events, event_key: shown } = profile.head;
	$('event').hidden = !events;
	$('event').replaceChildren(...(events ?? []).map(key => el('option', { value: key, selected: key === shown }, eventName(profile.head, key))));
}

/** Shows a profile, which takes the place of what was known of it. */
function open(found) {
	profile = loaded = found;
	series = timeline = second = null;
	filesOf = { isReading: false, trouble: '' };
	secondOf = { session: '', trouble: '', isReading: false };
	remembered.clear();
	reshaped.clear();
	makeEvents();
	makeTimeline();
	state.v ||= firstView();
	render();
}

async function start() {
	readState();
	setTheme(state.theme || preferredTheme());
	const early = loadApplications(state.e).catch(() => null);
	let isDamaged = false;
	makeTabs();
	makeGraphs();
	const first = await early, whole = load(state.e); // in turn: what is shown first is there sooner
	whole.catch(() => {}); // which is noticed below
	if (first) {
		open(first);
		listen();
	}
	sources = await loadSources().catch(() => { isDamaged = true; return { wanted: 0, functions: new Map() }; });
	open(await whole);
	if (!first) listen();
	if (state.fn && !findKey(profile, state.fn) && !filesOf.isReading) say(`This profile has no ${visible(state.fn)}, which the address names.`);
	if (isDamaged) say('The source in this page is damaged and not shown.');
	if (unknown.length) say(`Not understood in the address, and ignored: ${unknown.map(visible).join(', ')}`);
}

start().catch(e => {
	console.error(e);
	const m = $('message');
	m.textContent = `This profile could not be read: ${visible(e.message.trim())}`;
	m.hidden = false;
	document.body.classList.add('failed');
});
