// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any length: only the rows in view are elements, which are filled again when they become others.
import { el } from './fmt.js';

const ROW_HEIGHT = 26;

/** A column: { id, title, width, narrow (width on narrow screens; none: not shown there), cls, key(row),
 * falls (largest first), init(cell), fill(cell, row) }. Options: label, onOpen(row), onPick(row), onSort(id). */
export class Table {
	constructor(host, columns, options) {
		this.columns = columns;
		this.o = options;
		this.rows = [];
		this.current = 0;
		this.isChosen = false; // none is, until somebody does
		this.pool = [];
		this.by = columns.find(c => c.id === options.by) || columns[0];
		this.direction = this.by.falls ? -1 : 1;
		this.head = el('div', { class: 'thead', role: 'row', 'aria-rowindex': 1 }, columns.map(c => {
			c.button = el('button', { class: 'th ' + this.classes(c), role: 'columnheader', type: 'button',
				onclick: () => this.sort(c) }, c.title);
			return c.button;
		}));
		this.body = el('div', { class: 'tbody', tabindex: 0, role: 'rowgroup', 'aria-label': options.label });
		this.space = el('div', { class: 'tspace' });
		this.body.append(this.space);
		this.grid = el('div', { class: 'table', role: 'grid', 'aria-label': options.label }, this.head, this.body);
		this.grid.style.setProperty('--columns', columns.map(c => c.width).join(' '));
		this.grid.style.setProperty('--narrow', columns.filter(c => c.narrow).map(c => c.narrow).join(' '));
		host.append(this.grid);
		this.listen();
	}

	classes(c) {
		return (c.cls || '') + (c.narrow ? '' : ' wide');
	}

	listen() {
		const rowOf = e => e.target.closest('.tr');
		this.body.addEventListener('scroll', () => this.draw(), { passive: true });
		new ResizeObserver(() => this.draw()).observe(this.body);
		this.body.addEventListener('keydown', e => {
			const page = Math.floor(this.body.clientHeight / ROW_HEIGHT) - 1;
			const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[e.key];
			if (by) this.move(this.current + by);
			else if (e.key === 'Enter' && this.rows[this.current]) this.o.onOpen?.(this.rows[this.current]);
			else return;
			e.preventDefault();
			e.stopPropagation();
		});
		this.body.addEventListener('click', e => { if (rowOf(e)) this.move(Number(rowOf(e).dataset.row)); });
		this.body.addEventListener('dblclick', e => { if (rowOf(e)) this.o.onOpen?.(this.rows[Number(rowOf(e).dataset.row)]); });
	}

	set(rows) {
		this.rows = rows;
		this.order();
		this.grid.setAttribute('aria-rowcount', String(this.rows.length + 1));
		this.space.style.height = this.rows.length * ROW_HEIGHT + 'px';
		this.current = Math.min(this.current, Math.max(0, this.rows.length - 1));
		this.draw(true);
	}

	sort(column) {
		this.direction = this.by === column ? -this.direction : column.falls ? -1 : 1;
		this.by = column;
		this.o.onSort?.(column.id);
		this.order();
		this.body.scrollTop = 0;
		this.draw(true);
	}

	order() {
		this.mark();
		this.rows = this.sorted(this.rows);
	}

	/** Says by which column rows are sorted. */
	mark() {
		const { by, direction } = this;
		for (const c of this.columns)
			c.button.setAttribute('aria-sort', c === by ? (direction < 0 ? 'descending' : 'ascending') : 'none');
	}

	sorted(rows) {
		const { by, direction } = this, keyed = rows.map(row => ({ row, key: by.key(row) }));
		keyed.sort((a, b) => (a.key < b.key ? -direction : a.key > b.key ? direction : 0) || a.row.f - b.row.f);
		return keyed.map(k => k.row);
	}

	move(i) {
		const body = this.body, y = Math.max(0, Math.min(this.rows.length - 1, i)) * ROW_HEIGHT;
		this.current = y / ROW_HEIGHT;
		this.isChosen = true;
		if (y < body.scrollTop) body.scrollTop = y;
		else if (y + ROW_HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = y + ROW_HEIGHT - body.clientHeight;
		this.draw();
		body.setAttribute('aria-activedescendant', this.rowId(this.current));
		if (this.rows[this.current]) this.o.onPick?.(this.rows[this.current]);
	}

	rowId(i) {
		return `${this.o.label.replace(/\W+/g, '-')}-${i}`;
	}

	newRow() {
		const cells = this.columns.map(c => el('div', { class: 'td ' + this.classes(c), role: 'gridcell' }));
		const element = el('div', { class: 'tr', role: 'row' }, cells);
		this.columns.forEach((c, k) => c.init?.(cells[k]));
		this.pool.push({ element, cells, row: -1 });
		this.space.append(element);
	}

	/** Shows the rows in view. Those that were there before are not filled again, unless what they show has changed. */
	draw(isNew = false) {
		const { body, pool } = this, first = Math.max(0, Math.floor(body.scrollTop / ROW_HEIGHT) - 2);
		const n = Math.min(this.rows.length, Math.ceil(body.clientHeight / ROW_HEIGHT) + 4);
		const end = Math.min(this.rows.length, first + n), isLarger = pool.length < n;
		while (pool.length < n) this.newRow();
		pool.forEach((place, k) => {
			const i = first + (k + pool.length - first % pool.length) % pool.length;
			if (isNew || isLarger) place.row = -1;
			place.element.hidden = i >= end;
			if (i >= end) return;
			place.element.setAttribute('aria-selected', String(this.isChosen && i === this.current));
			if (place.row !== i) this.fill(place, i);
		});
	}

	/** Makes a place that of a row: row i is always in the same one, as long as there are not more. */
	fill(place, i) {
		const { element, cells } = place;
		place.row = i;
		element.style.transform = `translateY(${i * ROW_HEIGHT}px)`;
		element.dataset.row = String(i);
		element.id = this.rowId(i);
		element.setAttribute('aria-rowindex', String(i + 2));
		this.columns.forEach((c, j) => c.fill(cells[j], this.rows[i]));
	}
}
