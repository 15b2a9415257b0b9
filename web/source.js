// SPDX-License-Identifier: GPL-2.0-or-later
// The source lines and instructions of a function, side by side, each with its samples.
import { amount, el, pct, shorten, styled, visible } from './fmt.js';

const LANES = 6, LINE_HEIGHT = 20;
const NEWER = 'newer than what was built from it', WRONG_LINES = '; samples may be on the wrong lines';

/** The first files, by their last parts. */
function fileNames(files) {
	return files.slice(0, 3).map(f => visible(f.path.split('/').pop())).join(', ') + (files.length > 3 ? `, and ${files.length - 3} more` : '');
}

/** The lines of all files with code: { file, number, text, samples, total (with what it calls, if that is known), heat (the same of its own code, not of what is inlined there), isCode }, those of one file together. Lines
 * with code whose text the server does not have are among them. */
function sourceRows(code) {
	const sums = code.files.map(() => new Map()), heats = code.files.map(() => new Map()), rows = [];
	for (const [, , samples, file, line, , total = samples] of code.instructions) {
		if (!line) continue;
		sums[file].set(line, (sums[file].get(line) || 0) + samples);
		heats[file].set(line, (heats[file].get(line) || 0) + total);
	}
	code.files.forEach((f, file) => {
		const texts = new Map(f.lines), totals = new Map(f.totals ?? []);
		let last = 0;
		rows.push({ file, title: f.lines.length ? f.newer ? `${f.path}: ${NEWER}${WRONG_LINES}` : f.path : `${f.path}: not found, or not readable` });
		for (const number of [...new Set([...texts.keys(), ...sums[file].keys(), ...totals.keys()])].sort((a, b) => a - b)) {
			if (last && number > last + 1) rows.push({ file, title: `… ${number - last - 1} line${number === last + 2 ? '' : 's'}` });
			rows.push({ file, number, text: texts.get(number) ?? '', key: `${file}:${number}`, samples: sums[file].get(number) || 0, total: totals.get(number) || 0, heat: heats[file].get(number) || 0,
				isCode: sums[file].has(number) });
			last = number;
		}
	});
	return rows;
}

/** Where an instruction jumps to, within the function; -1: nowhere. */
function targetOf(text, places) {
	const found = /^(?:j\w+|b(?:\.\w+)?|cbn?z|tbn?z|l?oop\w*)\s+(?:.*,\s*)?(?:0x)?([0-9a-f]+)\b/.exec(text);
	return found ? places.get('0x' + found[1]) ?? -1 : -1;
}

function instructionRows(code) {
	const places = new Map(code.instructions.map((r, i) => [r[0], i]));
	return code.instructions.map(([address, text, samples, file, line, calls, total = 0]) => ({
		address, text, samples, total, heat: total || samples, key: line ? `${file}:${line}` : '', line, calls, to: targetOf(text, places) }));
}

/** Gives each jump a lane, short ones the inner lanes; others are not drawn. */
function jumpsOf(rows) {
	const jumps = rows.map((r, from) => ({ from, to: r.to })).filter(j => j.to >= 0);
	const lanes = Array.from({ length: LANES }, () => []);
	jumps.sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from));
	for (const j of jumps) {
		const low = Math.min(j.from, j.to), high = Math.max(j.from, j.to);
		j.lane = lanes.findIndex(lane => lane.every(([a, b]) => high < a || low > b));
		if (j.lane >= 0) lanes[j.lane].push([low, high]);
	}
	return jumps.filter(j => j.lane >= 0);
}

function drawJumps(jumps, rows) {
	const ns = 'http://www.w3.org/2000/svg', svg = document.createElementNS(ns, 'svg');
	svg.setAttribute('class', 'jumps');
	svg.setAttribute('width', '44');
	svg.setAttribute('height', String(rows * LINE_HEIGHT));
	svg.setAttribute('aria-hidden', 'true');
	for (const { from, to, lane } of jumps) {
		const path = document.createElementNS(ns, 'path'), x = 34 - lane * 6, y = to * LINE_HEIGHT + LINE_HEIGHT / 2;
		path.setAttribute('d', `M38 ${from * LINE_HEIGHT + LINE_HEIGHT / 2}H${x}V${y}H38m-4-3l4 3l-4 3`);
		path.setAttribute('class', to < from ? 'loop' : 'jump');
		svg.append(path);
	}
	return svg;
}

/** Hottest first: the places of rows with samples, of their code or of what that calls. */
export function hottestRows(rows) {
	return rows.map((r, i) => [r.heat || 0, i]).filter(r => r[0]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(r => r[1]);
}

export class Source {
	constructor(host) {
		this.host = host;
		this.left = this.right = this.order = [];
		this.at = 0;
	}

	/** Shows what the server sent for a function, wanted; page has the palette, and before, the samples that shares are of:
	 * filters do not apply. */
	show(code, page, wanted) {
		const panes = [];
		this.wanted = wanted;
		this.code = code;
		this.page = page;
		this.left = code.instructions ? sourceRows(code) : [];
		this.right = code.instructions ? instructionRows(code) : [];
		this.hasLines = this.right.some(r => r.line);
		this.hasTotals = code.total !== undefined;
		this.base = (code.total ?? code.samples) || 1;
		this.most = Math.max(1, ...[...this.left, ...this.right].map(r => r.heat || 0));
		if (this.left.some(r => r.number)) panes.push(this.pane('Source', this.left.map(r => this.line(r))));
		if (this.right.length && !code.why) panes.push(this.pane('Instructions', [drawJumps(jumpsOf(this.right), this.right.length), ...this.right.map((r, i) => this.instruction(r, i))], 'code'));
		this.order = hottestRows(this.main());
		this.host.replaceChildren(this.head(), el('div', { class: 'panes' }, panes));
		this.step(0);
	}

	/** The rows that hot lines are among: source lines, if they have samples. */
	main() {
		return this.code.why || this.left.some(r => r.heat) ? this.left : this.right;
	}

	head() {
		const { code, page } = this, noLine = this.right.filter(r => !r.line).reduce((sum, r) => sum + r.samples, 0);
		this.place = el('span', { role: 'status' });
		const button = (text, key, by) => el('button', { type: 'button', title: key, onclick: () => this.step(by) }, text);
		const isWithin = code.address !== this.wanted.address, files = this.hasLines ? code.files ?? [] : [], gone = files.filter(f => !f.lines.length), newer = files.filter(f => f.newer);
		return el('div', { class: 'note' }, el('b', {}, visible(code.symbol)), this.wanted.image ? ` in ${this.wanted.image}` : '',
			isWithin ? `, the first function that ${visible(this.wanted.name)} is inlined in` : '', `: ${amount(page.profile.head, code.samples)}, ${pct(code.samples / (page.before || 1))} %${this.hasTotals ? `; with what it calls ${amount(page.profile.head, code.total)}, ${pct(code.total / (page.before || 1))} %` : ''}. `,
			code.why ? `No code: ${visible(code.why)}. ` : '', this.order.length ? [button('‹ hotter line', 'p', -1), button('next hot line ›', 'n', 1), ' ', this.place] : null,
			newer.length ? el('span', { class: 'warn' }, ` Source ${NEWER}: ${fileNames(newer)}${WRONG_LINES}.`) : '',
			gone.length ? ` Source not found, or not readable: ${fileNames(gone)}.` : '',
			noLine ? ` ${pct(noLine / (code.samples || 1))} % of the samples have no source line.` : '',
			this.order.length ? ' A sample can be at the instruction after the one that took the time.' : '');
	}

	pane(title, rows, cls = '') {
		return el('div', { class: 'pane ' + cls, role: 'table', 'aria-label': title, tabindex: 0 }, this.titles(title === 'Source' ? 'Line' : 'Address'), rows);
	}

	/** What the columns are. */
	titles(name) {
		return el('div', { class: 'sl titles', role: 'row' }, el('span', { class: 'share', role: 'columnheader', title: `Share of the ${this.hasTotals ? 'samples of the function, and of what it calls' : "function's samples"}` }, 'Self %'),
			this.hasTotals ? el('span', { class: 'share', role: 'columnheader', title: 'The same, with what is called there' }, 'Total %') : null, el('i', { class: 'heat' }), el('span', { class: 'number', role: 'columnheader' }, name));
	}

	heat(samples) {
		return samples ? this.page.palette.heat(Math.sqrt(samples / this.most)) : 'transparent';
	}

	row(r, cls, ...cells) {
		const share = k => (k ? pct(k / this.base) : ''), cell = (k, cls = '') => el('span', { class: 'share' + cls, role: 'cell', title: k ? amount(this.page.profile.head, k) : '' }, share(k));
		const e = el('div', { class: 'sl ' + cls, role: 'row', onclick: () => this.tie(r.key, e), onmouseenter: () => this.tie(r.key) },
			cell(r.samples), this.hasTotals ? cell(r.total, ' total') : null,
			styled('i', { background: this.heat(r.heat) }, { class: 'heat' }), ...cells);
		r.element = e;
		return e;
	}

	line(r) {
		if (!r.number) return el('div', { class: 'sl gap', role: 'row' }, visible(r.title));
		return this.row(r, r.isCode ? '' : 'dim', el('span', { class: 'number', role: 'cell' }, String(r.number)), el('code', { role: 'cell' }, visible(r.text.replace(/\t/g, '    '))));
	}

	instruction(r, i) {
		const before = this.right[i - 1], isNew = r.calls.length && (!before || before.calls.join('\n') !== r.calls.join('\n'));
		return this.row(r, (r.calls.length ? 'inlined' : '') + (r.line ? '' : ' noline'), el('span', { class: 'number', role: 'cell' }, r.address.slice(2)),
			el('code', { role: 'cell' }, visible(r.text.replace(/\s+/g, ' '))),
			isNew ? el('span', { class: 'dim call', title: r.calls.map(visible).join(' in ') }, `▸ ${shorten(visible(r.calls[0]))} inlined`) : r.line || !this.hasLines ? null :
				el('span', { class: 'dim call' }, 'no line'));
	}

	/** Scrolls to a row, from its beginning on: jumps and shares are there. */
	bring(r, block) {
		r.element.scrollIntoView({ block });
		r.element.closest('.pane').scrollLeft = 0;
	}

	/** Marks the rows of one line in both panes; after a click, the other pane shows the hottest of them. */
	tie(key, clicked) {
		for (const r of [...this.left, ...this.right]) r.element?.classList.toggle('tied', Boolean(key) && r.key === key);
		if (!clicked || !key) return;
		const other = this.left.some(r => r.element === clicked) ? this.right : this.left;
		const best = other.filter(r => r.element && r.key === key).sort((a, b) => b.heat - a.heat)[0];
		if (best) this.bring(best, 'nearest');
	}

	/** Goes to the next hot line. */
	step(by) {
		const rows = this.main();
		if (!this.order.length) return;
		this.at = by ? Math.max(0, Math.min(this.order.length - 1, this.at + by)) : 0;
		const r = rows[this.order[this.at]];
		this.bring(r, 'center');
		this.tie(r.key, r.element);
		this.place.textContent = `${r.number ? `line ${r.number}` : r.address}: ${this.at + 1} of ${this.order.length}, ${pct((r.total || r.samples) / this.base)} % of the function${this.hasTotals ? ' and what it calls' : ''}.`;
	}
}
