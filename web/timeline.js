// SPDX-License-Identifier: GPL-2.0-or-later
// Samples over time, stacked by application, and two windows of it, which pointer and keys move.
import { el } from './fmt.js';

const LEFT = 52, BOTTOM = 18, HEAD = 8;

/** Options: steps, rows (samples of each application in each step), shed (samples that are in no row, or null), rate(samples, step) as a height,
 * unit(value) as a text, gaps [[from, to]], marks [{ kind, step, end }], label(step), palette(), comparing(), onChange(which, window, done),
 * onHover(event, step). */
/** From where to where each step is drawn. Next to a step without slices, because each is longer than a step, it is drawn as long
 * as its slices are. */
export function spansOf(s) {
	const isEmpty = i => s.recorded[i] && !s.to_ms[i], at = ms => (ms - s.begin_ms) / s.length_ms;
	return s.recorded.map((_, i) => [isEmpty(i - 1) && s.to_ms[i] ? Math.min(i, at(s.from_ms[i])) : i, isEmpty(i + 1) ? Math.max(i + 1, at(s.to_ms[i])) : i + 1]);
}

export class Timeline {
	constructor(host, options) {
		this.o = options;
		this.host = host;
		this.windows = { A: null, B: null };
		this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'tl', 'aria-hidden': 'true' }));
		host.append(this.canvas);
		this.c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
		this.handles = {};
		for (const which of ['A', 'B']) for (const side of [0, 1]) this.addHandle(which, side);
		this.listen();
		new ResizeObserver(() => this.draw()).observe(host);
	}

	addHandle(which, side) {
		const name = `${which === 'A' ? 'Window' : 'Window to compare with'}: ${side ? 'end' : 'begin'}`;
		const handle = el('div', { class: 'handle ' + which, role: 'slider', tabindex: 0, 'aria-label': name,
			'aria-valuemin': 0, 'aria-valuemax': this.o.steps });
		handle.addEventListener('keydown', e => {
			const n = this.o.steps, v = [...this.window(which)];
			const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -n, End: n }[e.key];
			if (!by) return;
			e.preventDefault();
			e.stopPropagation();
			if (e.shiftKey) {
				const moved = Math.max(-v[0], Math.min(n - v[1], by));
				v[0] += moved;
				v[1] += moved;
			} else if (side) v[1] = Math.max(v[0] + 1, Math.min(n, v[1] + by));
			else v[0] = Math.max(0, Math.min(v[1] - 1, v[0] + by));
			this.change(which, v, true);
		});
		this.handles[which + side] = handle;
		this.host.append(handle);
	}

	/** The window, which is all if none was chosen. */
	window(which) {
		return this.windows[which] || [0, this.o.steps];
	}

	change(which, v, done) {
		const isAll = v[0] === 0 && v[1] === this.o.steps;
		this.windows[which] = isAll && which === 'A' ? null : v;
		this.draw();
		this.o.onChange(which, this.windows[which], done);
	}

	listen() {
		const host = this.host, n = this.o.steps;
		const stepAt = e => {
			const r = this.canvas.getBoundingClientRect();
			return Math.max(0, Math.min(n, (e.clientX - r.left - LEFT) / (r.width - LEFT) * n));
		};
		let drag = null;
		host.addEventListener('pointerdown', e => {
			if (e.button) return;
			const held = Object.keys(this.handles).find(k => this.handles[k] === e.target);
			if (held) drag = { which: held[0], side: Number(held[1]) };
			else drag = { which: this.o.comparing() || e.altKey ? 'B' : 'A', from: stepAt(e) };
			host.setPointerCapture(e.pointerId);
		});
		host.addEventListener('pointermove', e => {
			const at = stepAt(e);
			this.o.onHover(e, Math.min(n - 1, Math.floor(at)));
			if (!drag) return;
			if (drag.from === undefined) {
				const v = [...this.window(drag.which)];
				v[drag.side] = Math.round(at);
				if (v[0] < v[1]) this.change(drag.which, v, false);
			} else if (drag.moved || Math.abs(e.movementX) > 0) {
				drag.moved = true;
				const v = [Math.floor(Math.min(at, drag.from)), Math.ceil(Math.max(at, drag.from))];
				if (v[0] < v[1]) this.change(drag.which, v, false);
			}
		});
		host.addEventListener('pointerup', () => {
			const which = drag?.which, moved = drag && (drag.moved || drag.from === undefined);
			drag = null;
			if (moved) this.o.onChange(which, this.windows[which], true);
		});
		host.addEventListener('pointerleave', () => this.o.onHover(null, 0));
		host.addEventListener('dblclick', () => this.change('A', [0, n], true));
	}

	x(step) {
		return LEFT + step / this.o.steps * (this.w - LEFT);
	}

	draw() {
		const r = window.devicePixelRatio || 1, c = this.c, p = this.o.palette();
		this.w = this.host.clientWidth;
		this.h = this.host.clientHeight;
		if (!this.w) return;
		this.canvas.width = this.w * r;
		this.canvas.height = this.h * r;
		c.setTransform(r, 0, 0, r, 0, 0);
		c.clearRect(0, 0, this.w, this.h);
		c.font = '11px system-ui, "DejaVu Sans", sans-serif';
		c.textBaseline = 'middle';
		this.drawScale(p);
		this.drawStack(p);
		this.drawGaps(p);
		this.drawMarks(p);
		this.drawTimes(p);
		this.drawWindow('A', p);
		this.drawWindow('B', p);
	}

	get base() {
		return this.h - BOTTOM;
	}

	y(value) {
		return this.base - value / this.most * (this.base - HEAD);
	}

	/** Chooses the scale and draws its lines. */
	drawScale(p) {
		const c = this.c;
		let peak = 0;
		for (let i = 0; i < this.o.steps; i++)
			peak = Math.max(peak, this.o.rows.reduce((sum, row) => sum + this.o.rate(row[i], i), this.o.shed ? this.o.rate(this.o.shed[i], i) : 0));
		const unit = 10 ** Math.floor(Math.log10(peak || 1));
		const line = [0.2, 0.5, 1, 2, 5, 10].map(k => k * unit).find(v => peak / v <= 3) || unit;
		this.most = Math.max(peak * 1.04, line);
		for (let v = 0; v <= this.most; v += line) {
			const y = Math.round(this.y(v)) + 0.5;
			c.strokeStyle = p.border;
			c.beginPath();
			c.moveTo(LEFT, y);
			c.lineTo(this.w, y);
			c.stroke();
			c.fillStyle = p.dim;
			c.textAlign = 'right';
			c.fillText(this.o.unit(v), LEFT - 6, y);
		}
	}

	/** What is drawn for samples that no row has. */
	stripes(p) {
		const tile = /** @type {HTMLCanvasElement} */ (el('canvas', { width: 5, height: 5 })), c = tile.getContext('2d');
		c.fillStyle = p.border;
		c.fillRect(0, 0, 5, 5);
		c.fillStyle = p.dim;
		c.fillRect(0, 0, 5, 1);
		return this.c.createPattern(tile, 'repeat');
	}

	drawStack(p) {
		const c = this.c, { steps, spans, rows, shed, rate } = this.o, below = new Float64Array(steps);
		const wide = (this.w - LEFT) / steps, together = Math.max(1, Math.ceil(steps / (this.w - LEFT)));
		[...rows, ...shed ? [shed] : []].forEach((row, k) => {
			c.fillStyle = row === shed ? this.stripes(p) : p.apps[k === rows.length - 1 ? 8 : Math.min(8, k)];
			c.beginPath();
			for (let i = 0; i < steps; i += together) {
				let value = 0, under = 0;
				for (let q = i; q < Math.min(steps, i + together); q++) {
					value = Math.max(value, rate(row[q], q));
					under = Math.max(under, below[q]);
					below[q] += rate(row[q], q);
				}
				if (!value) continue;
				const top = this.y(under + value), gap = wide > 3 ? 1 : 0, [from, to] = together > 1 ? [i, i + together] : spans[i];
				c.rect(this.x(from), top, Math.max(0.7, wide * (to - from) - gap), this.y(under) - top);
			}
			c.fill();
		});
	}

	drawGaps(p) {
		const c = this.c, base = this.base;
		for (const [from, to] of this.o.gaps) {
			const x0 = this.x(from), x1 = this.x(to);
			c.save();
			c.beginPath();
			c.rect(x0, HEAD, x1 - x0, base - HEAD);
			c.clip();
			c.strokeStyle = p.bad;
			c.lineWidth = 1;
			for (let x = x0 - base; x < x1; x += 6) {
				c.beginPath();
				c.moveTo(x, base);
				c.lineTo(x + base, 0);
				c.stroke();
			}
			c.restore();
		}
	}

	/** What happened: a line for what began, a bar at the top while samples were lost. */
	drawMarks(p) {
		const c = this.c;
		for (const { kind, step, end } of this.o.marks) {
			const x = this.x(step);
			c.fillStyle = kind === 'lost' ? p.warn : p.text;
			if (kind === 'gap') continue;
			if (kind === 'lost') {
				c.fillRect(x, 0, Math.max(2, this.x(end) - x), 4);
				continue;
			}
			for (let y = 0; y < this.base; y += 5) c.fillRect(Math.round(x), y, 1, 3);
			c.beginPath();
			c.moveTo(x, 0);
			c.lineTo(x + 9, 4);
			c.lineTo(x, 8);
			c.fill();
		}
	}

	drawTimes(p) {
		const c = this.c, n = this.o.steps, per = (this.w - LEFT) / n;
		const every = [1, 2, 3, 5, 6, 10, 12, 15, 20, 30, 60, 120, 240].find(k => per * k > 74) || n;
		let free = 0;
		c.fillStyle = p.dim;
		c.textAlign = 'left';
		for (let i = 0; i <= n; i += every) {
			const text = this.o.label(i), { width } = c.measureText(text), left = i ? Math.min(this.x(i) - width / 2, this.w - width) : this.x(i);
			if (left < free) continue;
			c.fillText(text, left, this.h - 8);
			free = left + width + 8;
		}
	}

	drawWindow(which, p) {
		const v = this.windows[which], c = this.c, base = this.base;
		for (const side of [0, 1]) {
			const handle = this.handles[which + side], at = this.window(which)[side];
			handle.hidden = !v && which === 'B';
			handle.style.left = Math.min(this.w - handle.offsetWidth, this.x(at) - handle.offsetWidth / 2) + 'px';
			handle.setAttribute('aria-valuenow', String(at));
			handle.setAttribute('aria-valuetext', this.o.label(at));
		}
		if (!v) return;
		const x0 = this.x(v[0]), x1 = this.x(v[1]);
		c.fillStyle = p[which];
		c.globalAlpha = 0.13;
		c.fillRect(x0, 0, x1 - x0, base);
		c.globalAlpha = 1;
		c.fillRect(x0, base, x1 - x0, 3);
		c.fillRect(x0 - 1, 0, 2, base);
		c.fillRect(x1 - 1, 0, 2, base);
		c.fillRect(x0, base - 15, 15, 15);
		c.fillStyle = p.bg;
		c.textAlign = 'left';
		c.fillText(which, x0 + 4, base - 7);
	}
}
