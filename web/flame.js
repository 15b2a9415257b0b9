// SPDX-License-Identifier: GPL-2.0-or-later
// A flame graph on a canvas of the size of the view. A depth is drawn as one line of pixels, which is copied
// down: 50,000 frames take 2 ms, where a rectangle for each would take 75.
import { el, visible } from './fmt.js';

const ROW = 19, FONT = '12px system-ui, "DejaVu Sans", sans-serif', LABEL_MIN = 26, ZOOM_MS = 160;

const widthsOf = new Map();

/** The widths of ASCII characters in the context's font, and at 0 that of others. */
function charWidths(c) {
	let w = widthsOf.get(c.font);
	if (!w) {
		w = new Float64Array(128);
		for (let i = 32; i < 127; i++) w[i] = c.measureText(String.fromCharCode(i)).width;
		w[0] = c.measureText('m').width;
		widthsOf.set(c.font, w);
	}
	return w;
}

/** The start of a text that fits, with ".." if it was cut. */
function fit(c, text, room) {
	const w = charWidths(c), dots = w[46] * 2;
	let x = 0, cut = -1;
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		x += code < 127 ? w[code] : w[0];
		if (x + dots <= room) cut = i;
		if (x > room) return cut < 2 ? '' : text.slice(0, cut + 1) + '‥';
	}
	return text;
}

/** The longest form of a name that fits: whole, without arguments, its last part, cut. */
function label(c, name, room) {
	const whole = fit(c, name, room), bare = name.replace(/\(.*\)$/, '') || name;
	if (whole === name) return whole;
	const short = bare === name ? whole : fit(c, bare, room);
	if (short === bare) return short;
	const last = bare.split('::').pop(), tail = fit(c, last, room);
	return last !== bare && tail && (tail === last || !short) ? tail : short;
}

const pixels = new Map();

/** "#rrggbb" as a pixel, blended over another colour at a strength from 0 to 1. */
function pixel(colour, over = '', strength = 1) {
	const key = over ? colour + over + strength : colour;
	let value = pixels.get(key);
	if (value === undefined) {
		const top = parseInt(colour.slice(1), 16), ground = over ? parseInt(over.slice(1), 16) : 0;
		const mix = shift => {
			const a = top >> shift & 255, b = ground >> shift & 255;
			return over ? Math.round(a * strength + b * (1 - strength)) : a;
		};
		value = (0xff000000 | mix(0) << 16 | mix(8) << 8 | mix(16)) >>> 0;
		pixels.set(key, value);
	}
	return value;
}

/** Options: label, flip (the root is at the bottom), first (the depth of the first row: 1 if the root is shown elsewhere), palette(), name(f, i), colour(f, i), onSelect(i),
 * title(i) (after the name, in SVG), onOpen(i), onZoom(i), onHover(i, event), onDraw(statistics). */
export class Flame {
	constructor(host, options) {
		this.host = host;
		this.o = options;
		this.a = 0;
		this.b = 1;
		this.selected = 0;
		this.hovered = -1;
		this.hit = null;
		this.tree = null;
		this.isAtEnd = false;
		this.seen = 0;
		this.canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'flame', tabindex: 0, role: 'img', 'aria-label': options.label }));
		this.space = el('div', { class: 'space' }, this.canvas);
		host.append(this.space);
		this.c = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d', { alpha: false }));
		new ResizeObserver(() => this.resize()).observe(host);
		host.addEventListener('scroll', () => {
			// else the view was made smaller, and resize() comes
			if (host.clientHeight === this.seen) this.isAtEnd = host.scrollTop + host.clientHeight >= host.scrollHeight - 1;
			this.later();
		}, { passive: true });
		this.canvas.addEventListener('keydown', e => this.key(e));
		this.listen();
	}

	listen() {
		const canvas = this.canvas;
		const at = e => {
			const r = canvas.getBoundingClientRect();
			return this.at(e.clientX - r.left, e.clientY - r.top);
		};
		let down = null;
		canvas.addEventListener('pointermove', e => {
			if (!down) return this.hover(at(e), e);
			const moved = (down.x - e.clientX) / this.w * (down.b - down.a);
			if (Math.abs(down.x - e.clientX) <= 3 && !down.moved) return;
			down.moved = true;
			this.hover(-1);
			this.view(down.a + moved, down.b + moved);
		});
		canvas.addEventListener('pointerleave', () => this.hover(-1));
		canvas.addEventListener('pointerdown', e => {
			if (e.button) return;
			down = { x: e.clientX, a: this.a, b: this.b, moved: false };
			if (e.pointerType !== 'touch') canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener('pointerup', e => {
			const i = at(e);
			if (down && !down.moved && i >= 0) {
				if (e.pointerType === 'touch' && i === this.selected) this.zoom(i);
				this.select(i);
			}
			down = null;
		});
		canvas.addEventListener('pointercancel', () => { down = null; });
		canvas.addEventListener('dblclick', e => { if (at(e) >= 0) this.zoom(at(e)); });
		canvas.addEventListener('wheel', e => {
			const x = (e.clientX - canvas.getBoundingClientRect().left) / this.w;
			if (e.ctrlKey || e.metaKey) {
				e.preventDefault();
				this.scale(Math.exp(e.deltaY * 0.0025), x);
			} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
				e.preventDefault();
				const by = (e.deltaX || e.deltaY) / this.w * (this.b - this.a);
				this.view(this.a + by, this.b + by);
			}
		}, { passive: false });
	}

	/** Shows another tree; keeps zoom and selection if it has the same nodes. */
	set(tree, keep) {
		this.tree = tree;
		if (!keep) {
			this.a = 0;
			this.b = 1;
			this.selected = 0;
		}
		this.hovered = -1;
		this.measure();
		this.later();
		if (!this.o.flip || keep) return;
		this.host.scrollTop = this.host.scrollHeight;
		this.isAtEnd = true; // also if the view is made smaller
	}

	/** Puts the root to the bottom, or to the top. */
	turn(flip) {
		if (this.o.flip === flip) return;
		this.o.flip = flip;
		if (!this.tree) return;
		this.draw();
		this.host.scrollTop = flip ? this.host.scrollHeight : 0;
		this.isAtEnd = flip;
	}

	resize() {
		if (!this.measure()) return;
		if (this.o.flip && this.isAtEnd) this.host.scrollTop = this.host.scrollHeight;
		this.draw();
	}

	/** Makes the canvas as large as the view; false if there is none. */
	measure() {
		if (!this.tree || !this.host.clientWidth) return false;
		const r = window.devicePixelRatio || 1;
		this.rowHeight = matchMedia('(pointer: coarse)').matches ? 24 : ROW;
		this.full = (this.tree.maxDepth + 1 - this.o.first) * this.rowHeight + 2;
		this.space.style.height = this.full + 'px';
		this.seen = this.host.clientHeight;
		this.w = this.host.clientWidth;
		this.h = Math.min(this.host.clientHeight, this.full);
		this.canvas.style.height = this.h + 'px';
		this.canvas.width = Math.round(this.w * r);
		this.canvas.height = Math.round(this.h * r);
		this.r = r;
		return true;
	}

	view(a, b) {
		const span = Math.min(1, b - a);
		this.a = Math.max(0, Math.min(1 - span, a));
		this.b = this.a + span;
		this.later();
	}

	scale(factor, at) {
		const span = this.b - this.a, middle = this.a + span * at;
		const next = Math.max(0.5 / Math.max(2, this.tree.total[0]), Math.min(1, span * factor));
		this.view(middle - next * at, middle + next * (1 - at));
	}

	later() {
		if (this.frame) return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			this.draw();
		});
	}

	/** Makes node i as wide as the view. */
	zoom(i, isRestored = false) {
		const t = this.tree, all = t.total[0] || 1, a0 = this.a, b0 = this.b, began = performance.now();
		const a = t.leftOf(i) / all, b = a + t.total[i] / all;
		this.zoomed = i;
		if (!isRestored) this.o.onZoom?.(i);
		if (isRestored || matchMedia('(prefers-reduced-motion: reduce)').matches) return this.view(a, b);
		const step = now => {
			const k = Math.max(0, Math.min(1, (now - began) / ZOOM_MS)), ease = 1 - (1 - k) ** 3;
			this.view(a0 + (a - a0) * ease, b0 + (b - b0) * ease);
			if (k < 1) requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	}

	select(i) {
		this.selected = i;
		this.draw();
		this.o.onSelect?.(i);
	}

	hover(i, event) {
		if (i !== this.hovered) {
			this.hovered = i;
			this.draw();
		}
		this.o.onHover?.(i, event);
	}

	/** The top of a depth, in the canvas. To read where the view is scrolled to takes long: whoever needs many tops does
	 * it once. */
	y(depth, scrolled = this.host.scrollTop) {
		const row = depth - this.o.first, y = this.o.flip ? this.full - (row + 1) * this.rowHeight - 1 : row * this.rowHeight + 1;
		return y - scrolled;
	}

	/** The node at a place of the canvas, or -1. */
	at(px, py) {
		const t = this.tree, y = py + this.host.scrollTop, all = t?.total[0];
		if (!all) return -1;
		const depth = Math.floor((this.o.flip ? this.full - 1 - y : y - 1) / this.rowHeight) + this.o.first;
		const u = (this.a + px / this.w * (this.b - this.a)) * all;
		let i = 0, left = 0;
		if (depth < this.o.first || depth > t.maxDepth) return -1;
		for (let d = 0; d < depth; d++) {
			let k = i + 1;
			for (; k < t.end[i] && left + t.total[k] <= u; k = t.end[k]) left += t.total[k];
			if (k >= t.end[i] || left > u) return -1;
			i = k;
		}
		return t.total[i] / all / (this.b - this.a) * this.w >= 0.5 ? i : -1;
	}

	/** The first child with samples, or the sibling on one side. */
	child(i) {
		const t = this.tree;
		for (let k = i + 1; k < t.end[i]; k = t.end[k]) if (t.total[k]) return k;
		return i;
	}

	sibling(i, side) {
		const t = this.tree, p = t.parent[i];
		let before = i;
		if (p < 0) return i;
		for (let k = p + 1; k < t.end[p]; k = t.end[k]) {
			if (!t.total[k]) continue;
			if (side > 0 && k > i) return k;
			if (k < i) before = k;
		}
		return side < 0 ? before : i;
	}

	key(e) {
		if (e.ctrlKey || e.altKey || e.metaKey || !this.tree) return;
		const i = this.selected, parent = Math.max(0, this.tree.parent[i]);
		const inward = this.o.flip ? 'ArrowUp' : 'ArrowDown', outward = this.o.flip ? 'ArrowDown' : 'ArrowUp';
		const moves = { [inward]: () => this.child(i), [outward]: () => parent, ArrowLeft: () => this.sibling(i, -1),
			ArrowRight: () => this.sibling(i, 1), Home: () => 0 };
		const actions = { Enter: () => this.zoom(i), Escape: () => this.zoom(0), 0: () => this.zoom(0),
			Backspace: () => this.zoom(Math.max(0, this.tree.parent[this.zoomed || 0])),
			'+': () => this.scale(1 / 1.5, 0.5), '=': () => this.scale(1 / 1.5, 0.5), '-': () => this.scale(1.5, 0.5) };
		if (moves[e.key]) {
			const next = moves[e.key]();
			this.reveal(next);
			this.select(next);
		} else if (actions[e.key]) actions[e.key]();
		else return;
		e.preventDefault();
		e.stopPropagation();
	}

	/** Scrolls and pans so that node i can be seen. */
	reveal(i) {
		const t = this.tree, all = t.total[0] || 1, span = this.b - this.a;
		const a = t.leftOf(i) / all, b = a + t.total[i] / all, y = this.y(t.depth[i]);
		if (b - a > span) this.view(a - (b - a) * 0.1, b + (b - a) * 0.1);
		else if (a < this.a) this.view(a, a + span);
		else if (b > this.b) this.view(b - span, b);
		if (y < 0 || y + this.rowHeight > this.h) this.host.scrollTop += y - this.h / 2;
	}

	draw() {
		const c = this.c, p = this.o.palette(), t = this.tree;
		if (!this.w || !t) return;
		c.setTransform(this.r, 0, 0, this.r, 0, 0);
		c.fillStyle = p.bg;
		c.fillRect(0, 0, this.w, this.h);
		if (!t.total[0]) return;
		const drawn = this.drawFrames(p);
		this.drawSmall(drawn, p);
		this.drawLabels(drawn, p);
		if (this.hovered > 0) this.box(this.hovered, p.text, 1);
		if (this.selected > 0) this.box(this.selected, p.focus, 2);
		this.stats = { frames: drawn.count, small: drawn.small };
		this.o.onDraw?.(this.stats);
	}

	/** Draws what is at least half a pixel wide. Returns what needs a label, and what is narrower. */
	drawFrames(p) {
		const t = this.tree, r = this.r, width = this.canvas.width, height = this.canvas.height;
		const k = this.w / (t.total[0] * (this.b - this.a)), left = this.a * t.total[0];
		const right = this.b * t.total[0], least = 0.5 / k, gap = r > 1 ? 2 : 1, rows = Math.round(this.rowHeight * r);
		const scrolled = this.host.scrollTop, drawn = { count: 0, small: 0, labels: [], slivers: new Map(), scrolled };
		if (this.image?.width !== width || this.image?.height !== height)
			this.image = this.c.createImageData(width, height);
		const px = new Uint32Array(this.image.data.buffer).fill(pixel(p.bg));
		const used = new Set(), { n, total, depth, end } = t, next = new Float64Array(t.maxDepth + 2); // left edges, by depth
		const tops = Float64Array.from({ length: t.maxDepth + 1 }, (_, d) => this.y(d, scrolled));
		for (let i = 0; i < n;) {
			const w = total[i], d = depth[i], x = next[d], top = tops[d];
			next[d] = x + w;
			next[d + 1] = x;
			if (d < this.o.first) {
				i++;
				continue;
			}
			const below = this.o.flip ? top < -this.rowHeight : top > this.h;
			if (x + w <= left || x >= right || !w || below) {
				i = end[i];
				continue;
			}
			const x0 = Math.max(0, (x - left) * k), x1 = Math.min(this.w, (x + w - left) * k);
			if (w < least) {
				drawn.small += end[i] - i;
				this.addSliver(drawn.slivers, d, x0, x1);
				i = end[i];
				continue;
			}
			const y = Math.round(Math.max(0, top) * r), from = Math.round(x0 * r);
			let to = Math.max(from + 1, Math.round(x1 * r));
			if (to - from > 2 * gap) to -= gap;
			if (top > -this.rowHeight && y < height) {
				px.fill(this.pixelOf(i, p), y * width + from, y * width + Math.min(width, to));
				used.add(d);
				if (x1 - x0 > LABEL_MIN) drawn.labels.push([i, x0, top, x1 - x0 - 1]);
				drawn.count++;
			}
			i++;
		}
		for (const d of used) {
			const top = tops[d], y = Math.round(Math.max(0, top) * r);
			const end = Math.min(height, Math.round(top * r) + rows - gap);
			for (let q = y + 1; q < end; q++) px.copyWithin(q * width, y * width, (y + 1) * width);
		}
		this.c.putImageData(this.image, 0, 0);
		return drawn;
	}

	pixelOf(i, p) {
		const f = this.tree.func[i], colour = this.o.colour(f, i);
		if (!this.hit) return pixel(colour);
		return this.hit[f] ? pixel(p.match) : pixel(colour, p.bg, p.dark ? 0.5 : 0.38);
	}

	/** Joins what is narrower than half a pixel to runs. */
	addSliver(slivers, depth, x0, x1) {
		let runs = slivers.get(depth);
		if (!runs) slivers.set(depth, runs = []);
		const last = runs[runs.length - 1];
		if (last && x0 <= last[1] + 1) last[1] = x1;
		else runs.push([x0, x1]);
	}

	drawSmall(drawn, p) {
		this.c.fillStyle = p.small;
		for (const [depth, runs] of drawn.slivers)
			for (const [x0, x1] of runs)
				this.c.fillRect(x0, this.y(depth, drawn.scrolled) + 6, Math.max(1, x1 - x0), this.rowHeight - 13);
	}

	drawLabels(drawn, p) {
		const c = this.c;
		c.font = FONT;
		c.textBaseline = 'middle';
		for (const [i, x, y, w] of drawn.labels) {
			const f = this.tree.func[i], text = label(c, this.o.name(f, i), w - 8);
			if (!text) continue;
			c.fillStyle = this.hit && !this.hit[f] ? p.dim : p.text;
			c.fillText(text, x + 4, y + this.rowHeight / 2);
		}
	}

	box(i, colour, line) {
		const t = this.tree, k = this.w / (t.total[0] * (this.b - this.a)), c = this.c;
		const x = (t.leftOf(i) - this.a * t.total[0]) * k, end = Math.min(this.w, x + Math.max(3, t.total[i] * k - 1));
		const begin = Math.max(0, x);
		c.strokeStyle = colour;
		c.lineWidth = line;
		c.strokeRect(begin + line / 2, this.y(t.depth[i]) + line / 2, end - begin - line, this.rowHeight - 1 - line);
	}

	/** The graph as SVG, also what is outside of the view; frames narrower than half a pixel are left out. */
	svg(note) {
		const t = this.tree, p = this.o.palette(), c = this.c, k = this.w / (t.total[0] * (this.b - this.a));
		const safe = s => visible(s).replace(/[&<>"]/g, x => `&#${x.charCodeAt(0)};`), out = [], left = this.a * t.total[0];
		c.font = FONT;
		for (let i = 0; i < t.n;) {
			const x0 = Math.max(0, (t.x[i] - left) * k), x1 = Math.min(this.w, (t.x[i] + t.total[i] - left) * k), w = x1 - x0;
			if (!(w >= 0.5)) {
				i = t.end[i];
				continue;
			}
			const f = t.func[i], name = this.o.name(f, i), y = (this.o.flip ? t.maxDepth - t.depth[i] : t.depth[i]) * ROW;
			const colour = this.hit?.[f] ? p.match : this.o.colour(f, i), text = w > LABEL_MIN ? label(c, name, w - 8) : '';
			out.push(`<g><title>${safe(name)}, ${this.o.title(i)}</title><rect x="${x0.toFixed(1)}" y="${y}" width="${Math.max(0.5, w - 1).toFixed(1)}" ` +
				`height="${ROW - 1}" fill="${colour}"/>${text ? `<text x="${(x0 + 4).toFixed(1)}" y="${y + 13}">${safe(text)}</text>` : ''}</g>\n`);
			i++;
		}
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.w}" height="${(t.maxDepth + 1) * ROW}" font-family="sans-serif" font-size="12" fill="${p.text}">` +
			`<desc>${safe(note)}</desc><rect width="100%" height="100%" fill="${p.bg}"/>\n${out.join('')}</svg>\n`;
	}

	/** The selected node in words. */
	describe(i, share) {
		return `${visible(this.o.name(this.tree.func[i], i))}, ${share}, depth ${this.tree.depth[i]}`;
	}
}
