// SPDX-License-Identifier: GPL-2.0-or-later
// A tree as a table, whose rows unfold to those of their children: for readers of screens, and where frames are too narrow to see.
import { count, el, pct } from './fmt.js';
import { Table } from './table.js';
import { fullName, imageName } from './views.js';

/** Rows with at least so much of all samples are unfolded at first. */
const MUCH = 0.1;
const INDENT_PX = 14;

/** The columns; page() has the profile and how many samples are shown. From callees up, all samples are those of the first row's function alone. */
function outlineColumns(page, isUp) {
	const share = k => pct(k / page().n), profile = () => page().profile;
	return [
		{ id: 'total', title: isUp ? 'Share %' : 'Total %', width: '76px', narrow: '72px', cls: 'right', falls: true, key: r => r.total, fill: (c, r) => { c.textContent = share(r.total); } },
		...isUp ? [] : [{ id: 'self', title: 'Self %', width: '60px', narrow: '60px', cls: 'right', falls: true, key: r => r.self, fill: (c, r) => { c.textContent = share(r.self); } }],
		{ id: 'samples', title: profile().head.unit ? 'Off the CPU' : 'Samples', width: '90px', cls: 'right', falls: true, key: r => r.total, fill: (c, r) => { c.textContent = count(profile().head, r.total); } },
		{ id: 'name', title: 'Name', width: 'minmax(0,1fr)', narrow: 'minmax(0,1fr)', key: r => fullName(profile(), r.f),
			init: c => c.append(el('button', { type: 'button', class: 'fold', tabindex: -1, 'aria-hidden': 'true' }), el('span', {})),
			fill: (c, r) => {
				const [fold, name] = c.children;
				c.style.paddingLeft = `${(r.level - 1) * INDENT_PX}px`;
				fold.textContent = r.isLeaf ? '\u00a0' : r.isOpen ? '▾' : '▸';
				name.textContent = name.title = fullName(profile(), r.f);
				name.className = page().found?.hit[r.f] ? 'match' : '';
				name.style.background = name.className && page().palette.match;
			} },
		{ id: 'image', title: 'Image', width: 'minmax(90px,190px)', cls: 'dim', key: r => imageName(profile(), r.f), fill: (c, r) => { c.textContent = imageName(profile(), r.f); } },
	];
}

/** Rows: { i (the node), f, total, self, level, isLeaf, isOpen }. Options: those of a table, page(), and isUp: the tree is one of callers, which is folded at first. */
export class Outline extends Table {
	constructor(host, options) {
		super(host, outlineColumns(options.page, options.isUp), { ...options, by: 'total' });
		this.tree = /** @type {any} */ (null);
		this.open = new Set();
		this.grid.setAttribute('role', 'treegrid');
		this.body.addEventListener('click', e => {
			const row = e.target.closest('.fold')?.closest('.tr');
			if (row) this.turn(Number(row.dataset.row));
		});
		this.body.addEventListener('keydown', e => {
			const i = this.current, row = this.rows[i];
			if (!row || e.ctrlKey || e.altKey || e.metaKey) return;
			if (e.key === ' ') this.turn(i);
			else if (e.key === 'ArrowRight') row.isOpen ? this.move(i + 1) : this.turn(i);
			else if (e.key === 'ArrowLeft') row.isOpen ? this.turn(i) : this.move(this.above(i));
			else return;
			e.preventDefault();
			e.stopPropagation();
		});
	}

	/** Shows a tree. What was unfolded stays so if it has the same nodes; else what has much is. */
	show(tree) {
		const isSame = this.tree?.func === tree.func;
		this.tree = tree;
		if (!isSame) {
			this.current = 0;
			this.isChosen = false;
			this.open = new Set(this.o.isUp ? [] : [...tree.func.keys()].filter(i => i && tree.total[i] >= MUCH * tree.total[0]));
		}
		this.set([]);
	}

	/** The row that row i is below. */
	above(i) {
		const { level } = this.rows[i];
		let k = i;
		while (k > 0 && this.rows[k].level >= level) k--;
		return level > 1 ? k : i;
	}

	/** Folds or unfolds a row. */
	turn(i) {
		const row = this.rows[i];
		if (row.isLeaf) return;
		if (!this.open.delete(row.i)) this.open.add(row.i);
		this.set([]);
	}

	order() {
		this.mark();
		this.rows = [];
		if (this.tree) this.add(0, 1);
	}

	/** Adds the rows of the children of a node. */
	add(parent, level) {
		const { tree: { func, total, self, end }, open } = this, rows = /** @type {any[]} */ ([]);
		for (let i = parent + 1; i < end[parent]; i = end[i])
			if (total[i]) rows.push({ i, f: func[i], total: total[i], self: self[i], level, isLeaf: total[i] <= self[i], isOpen: open.has(i) && total[i] > self[i] });
		const { rest } = this.o.page().profile, isRest = row => row.f === rest;
		for (const row of [...this.sorted(rows.filter(r => !isRest(r))), ...rows.filter(isRest)]) {
			this.rows.push(row);
			if (row.isOpen) this.add(row.i, level + 1);
		}
	}

	fill(place, i) {
		super.fill(place, i);
		const { level, isLeaf, isOpen } = this.rows[i];
		place.element.setAttribute('aria-level', String(level));
		if (isLeaf) place.element.removeAttribute('aria-expanded');
		else place.element.setAttribute('aria-expanded', String(isOpen));
	}
}
