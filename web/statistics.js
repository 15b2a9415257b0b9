// SPDX-License-Identifier: GPL-2.0-or-later
// Intervals and tests at 95 %, those of opreport (lib/profile/rows/statistics.c). How much counts vary is measured
// between blocks of time; without them, samples are taken as independent.

import { orderOf } from './model.js';

const Z = 1.959963984540054, LEAST_BLOCKS = 8, MOST_BLOCKS = 64, SLICE_MS = 10000;

/** The noise of the independent samples of a profile's head: { weight, factor, degrees, squares }. The variance of a
 * count is weight times the count; a factor of 0 is not measured. Microseconds off the CPU are not independent, but
 * waits are, and squares is the sum of theirs. */
export function independent(head) {
	return { weight: head.weight || 1, factor: 0, degrees: 0, squares: head.squares || 0 };
}

/** What each of k samples of n weighs. The squares of their waits, and of the other waits, are at most those of all; no
 * wait is longer than the root of the squares, nor than all waits together. */
function weightOf(k, n, noise) {
	if (!noise.squares || noise.factor) return noise.weight;
	const least = Math.min(k, n - k), longest = Math.min(Math.sqrt(noise.squares), n);
	return Math.max(1, longest > least ? longest : longest * longest / least);
}

/** So many standard deviations have 95 % between them: Student's t. */
function deviationsOf(d) {
	const z = Z, x = z * z;
	if (d < 1.5) return Math.tan(Math.PI * 0.475);
	if (d < 2.5) return 0.95 / Math.sqrt(2 * 0.975 * 0.025);
	if (d === Infinity) return z;
	return z * (1 + (x + 1) / (4 * d) + ((5 * x + 16) * x + 3) / (96 * d * d) +
		(((3 * x + 19) * x + 17) * x - 15) / (384 * d ** 3) +
		((((79 * x + 776) * x + 1482) * x - 1920) * x - 945) / (92160 * d ** 4));
}

/** Wilson's interval. */
export function wilson(k, n, noise) {
	if (!n) return [0, 1];
	const z = noise.factor ? deviationsOf(noise.degrees) : Z, m = n / weightOf(k, n, noise), p = k / n, z2 = z * z / m;
	const middle = (p + z2 / 2) / (1 + z2);
	const half = z / (1 + z2) * Math.sqrt(p * (1 - p) / m + z2 / (4 * m));
	return [k ? Math.max(0, middle - half) : 0, k < n ? Math.min(1, middle + half) : 1];
}

const GAMMA_TERMS = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.001208650973866179,
	-0.000005395239384953];

/** The natural logarithm of the gamma function (Lanczos). */
function logGamma(x) {
	let sum = 1.000000000190015;
	for (let i = 0; i < GAMMA_TERMS.length; i++) sum += GAMMA_TERMS[i] / (x + 1 + i);
	return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log(2.5066282746310005 * sum / x);
}

/** The continued fraction of the incomplete beta function (Lentz's algorithm). */
function betaFraction(a, b, x) {
	const safe = v => (Math.abs(v) < 1e-300 ? 1e-300 : v);
	let c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), result = d;
	for (let i = 1; i < 200; i++) {
		const even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
		const odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
		d = 1 / safe(1 + even * d);
		c = safe(1 + even / c);
		result *= d * c;
		d = 1 / safe(1 + odd * d);
		c = safe(1 + odd / c);
		result *= d * c;
		if (Math.abs(d * c - 1) < 1e-12) break;
	}
	return result;
}

function betaPart(a, b, x) {
	const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * betaFraction(a, b, x) / a : 1 - front * betaFraction(b, a, 1 - x) / b;
}

/** How often chance goes so many standard deviations or more. */
function chanceOf(far, degrees) {
	if (!(far > 0)) return 1;
	if (degrees <= 1000) return betaPart(degrees / 2, 0.5, degrees / (degrees + far * far));
	const t = 1 / (1 + 0.3275911 * far / Math.SQRT2);
	const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
	return series * Math.exp(-far * far / 2);
}

/** What two counts vary by if they vary alike; each has a say by its count. */
function pool(k1, n1, noise1, k2, n2, noise2) {
	const says = [noise1.factor * k1, noise2.factor * k2], sum = says[0] + says[1];
	const count = (noise1.factor ? k1 : 0) + (noise2.factor ? k2 : 0), factor = count ? sum / count : 1;
	let squares = 0;
	if (says[0]) squares += says[0] ** 2 / noise1.degrees;
	if (says[1]) squares += says[1] ** 2 / noise2.degrees;
	return { a: weightOf(k1, n1, noise1) / (noise1.factor || 1) * factor, b: weightOf(k2, n2, noise2) / (noise2.factor || 1) * factor,
		degrees: squares ? sum * sum / squares : Infinity };
}

/** The probability that two shares differ so much by chance, two-sided; and half of the interval of the
 * difference: { chance, half }. */
export function compareShares(k1, n1, noise1, k2, n2, noise2) {
	if (!n1 || !n2) return { chance: 1, half: 1 };
	const w = pool(k1, n1, noise1, k2, n2, noise2), a = k1 / n1, b = k2 / n2, r = w.a / n1 + w.b / n2;
	const pooled = (k1 / w.a + k2 / w.b) / (n1 / w.a + n2 / w.b), deviation = Math.sqrt(pooled * (1 - pooled) * r);
	return { chance: deviation ? chanceOf((Math.abs(a - b) - r / 2) / deviation, w.degrees) : 1,
		half: deviationsOf(w.degrees) * Math.sqrt(w.a * a * (1 - a) / n1 + w.b * b * (1 - b) / n2) };
}

/** Benjamini and Hochberg: the largest of these probabilities that counts if at most 5 % of all that
 * count may be chance; 0 if none does. */
export function largestSure(probabilities) {
	const sorted = Float64Array.from(probabilities).sort();
	let sure = 0;
	for (let i = 0; i < sorted.length; i++)
		if (sorted[i] <= 0.05 * (i + 1) / sorted.length) sure = sorted[i];
	return sure;
}

/** What the noise of all shares needs of the blocks of time, by their totals: the slowest waves through those with samples,
 * and the sum of the totals along each. null: there are too few blocks. */
function wavesOf(totals) {
	const has = [...totals.keys()].filter(i => totals[i]), n = has.length, waves = Math.min(Math.max(Math.floor(n / 8), 4), 8);
	if (n < LEAST_BLOCKS) return null;
	const cosines = new Float64Array(totals.length * waves), along = new Float64Array(waves);
	let sum = 0;
	has.forEach((i, at) => {
		sum += totals[i];
		for (let w = 0; w < waves; w++) {
			cosines[i * waves + w] = Math.cos(Math.PI * (w + 1) * (at + 0.5) / n);
			along[w] += totals[i] * cosines[i * waves + w];
		}
	});
	return { waves, cosines, along, sum, plain: /** @type {any} */ (null) };
}

/** Adds a count in a block along each wave, to sums from at on. */
function addCount(shape, sums, block, count, at = 0) {
	const { waves, cosines } = shape;
	for (let w = 0; w < waves; w++) sums[at + w] += count * cosines[block * waves + w];
}

/** The noise of a share of k samples from the sums of its counts along the waves, from at on: the slowest changes show it
 * (Lazarus and others 2018). */
function measureNoise(k, sums, shape, single, at = 0) {
	const { waves, along, sum } = shape, share = k / sum, alone = k * (1 - share);
	const weight = single.squares ? Math.max(1, Math.min(single.squares / sum, sum)) : single.weight;
	let variance = 0;
	for (let w = 0; w < waves; w++) variance += 2 * (sums[at + w] - share * along[w]) ** 2 / waves;
	const factor = alone > 0 ? variance / alone : 0;
	return factor <= weight ? shape.plain ??= { weight, factor: 1, degrees: Infinity } : { weight: factor, factor: factor / weight, degrees: waves };
}

/** The blocks that opreport makes of a window, at multiples of their length in local time: the number of each step's, -1 outside of the window; and how many. */
function chooseBlocks(steps, window) {
	const [first, last] = window, of = new Int16Array(steps.count).fill(-1);
	const used = [...of.keys()].filter(i => i >= first && i < last && steps.to_ms[i]);
	if (!used.length) return { of, count: 0 };
	const begin = Math.min(...used.map(i => steps.from_ms[i])), end = Math.max(...used.map(i => steps.to_ms[i]));
	const slices = Math.floor((end - begin) / SLICE_MS);
	const length = Math.max((Math.floor(slices / MOST_BLOCKS) + 1) * SLICE_MS, steps.length_ms);
	const from = Math.floor((begin + steps.east_ms) / length) * length - steps.east_ms, count = Math.max(1, Math.ceil((end - from) / length));
	for (const i of used)
		of[i] = Math.min(count - 1, Math.max(0, Math.floor(((steps.from_ms[i] + steps.to_ms[i]) / 2 - from) / length)));
	return { of, count };
}

/** The samples of moments by node, in the order of nodes: { node, block, count }. There are much fewer than nodes of a
 * large tree, and they are in that order in the data, but not after the tree was changed. */
function sortedMoments(node, block, count, n) {
	let isSorted = true;
	for (let i = 1; isSorted && i < node.length; i++) isSorted = node[i - 1] <= node[i];
	if (isSorted) return { node, block, count };
	const order = orderOf(node, n), take = list => list.map((_, i) => list[order[i]]);
	return { node: take(node), block: take(block), count: take(count) };
}

/** How much the counts of a view vary: its tree, and the samples of its nodes in blocks of time. */
export class Blocks {
	/** Of a view { self, tree, map, mask } of the profile. self: the samples of the profile's nodes in the view, 0 if
	 * filters reject them; map: their nodes in tree; mask: which tasks are in the view, null: all. */
	constructor(profile, window, view) {
		this.source = { profile, window, view };
		this.independent = independent(profile.head);
		this.tree = view.tree;
		this.known = new Map();
		this.own = /** @type {any} */ (null);
	}

	/** Sorts the samples by node, when they are first asked for. Of several sessions there are no blocks: the data do
	 * not say which session a sample is of. */
	prepare() {
		if (!this.source) return;
		const { profile, window, view: { self, tree, map, mask } } = this.source;
		const { at, step, count, task } = profile.columns, steps = profile.head.steps;
		const blocks = steps && profile.head.session_count === 1 ? chooseBlocks(steps, window || [0, steps.count]) : { of: [], count: 0 };
		const isIn = i => blocks.of[step[i]] >= 0 && self[at[i]] > 0 && (!mask || mask[task[i]]);
		this.source = null;
		this.totals = new Float64Array(blocks.count);
		if (blocks.count < LEAST_BLOCKS) return;
		this.moments = { isIn, of: i => blocks.of[step[i]], count };
		const node = new Uint32Array(at.length), block = new Uint8Array(at.length), counts = new Float64Array(at.length);
		let used = 0;
		for (let i = 0; i < at.length; i++) {
			if (!isIn(i)) continue;
			node[used] = map ? map[at[i]] : at[i];
			block[used] = blocks.of[step[i]];
			this.totals[block[used]] += counts[used] = count[i];
			used++;
		}
		this.byNode = sortedMoments(node.subarray(0, used), block.subarray(0, used), counts.subarray(0, used), tree.n);
		this.shape = wavesOf(this.totals);
	}

	/** The number of the first moment of a node, or of one after it. */
	firstOf(i) {
		const { node } = this.byNode;
		let low = 0, high = node.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (node[middle] < i) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** The number of blocks that show how much counts vary; 0 if there are too few. */
	get used() {
		this.prepare();
		const n = this.totals.filter(Boolean).length;
		return n < LEAST_BLOCKS ? 0 : n;
	}

	/** The noise of the samples in ranges of nodes, which have no node in common. */
	noise(ranges) {
		this.prepare();
		if (!this.shape) return this.independent;
		const sums = new Float64Array(this.shape.waves), { node, block, count } = this.byNode;
		let all = 0;
		for (const [from, to] of ranges)
			for (let k = this.firstOf(from); k < node.length && node[k] < to; k++) {
				all += count[k];
				addCount(this.shape, sums, block[k], count[k]);
			}
		return measureNoise(all, sums, this.shape, this.independent);
	}

	/** The noise of the samples of the moments that a test chooses. */
	ofMoments(key, test) {
		this.prepare();
		if (!this.shape) return this.independent;
		if (!this.known.has(key)) {
			const { isIn, of, count } = this.moments, sums = new Float64Array(this.shape.waves);
			let all = 0;
			for (let i = 0; i < count.length; i++) {
				if (!isIn(i) || !test(i)) continue;
				all += count[i];
				addCount(this.shape, sums, of(i), count[i]);
			}
			this.known.set(key, measureNoise(all, sums, this.shape, this.independent));
		}
		return this.known.get(key);
	}

	remember(key, ranges) {
		if (!this.known.has(key)) this.known.set(key, this.noise(ranges()));
		return this.known.get(key);
	}

	/** Of a node with its subtree; of a node alone; of several nodes with their subtrees. */
	ofNode(i) {
		return this.remember(`n${i}`, () => [[i, this.tree.end[i]]]);
	}

	ofNodeAlone(i) {
		return this.remember(`a${i}`, () => [[i, i + 1]]);
	}

	ofNodes(nodes) {
		return this.noise(nodes.map(i => [i, this.tree.end[i]]));
	}

	/** The nodes of a function. */
	nodesOf(f) {
		const { starts, nodes } = this.tree.byFunction();
		return [...nodes.subarray(starts[f], starts[f + 1])];
	}

	/** The own samples of all functions, along the waves: tables ask for those of thousands. */
	addFunctions() {
		const { func } = this.tree, { waves } = this.shape, { node, block, count } = this.byNode;
		let most = 0, used = 1;
		for (let k = 0; k < node.length; k++) most = Math.max(most, func[node[k]]);
		const places = new Uint32Array(most + 1); // of functions with samples; 0: others
		for (let k = 0; k < node.length; k++) places[func[node[k]]] ||= used++;
		const all = new Float64Array(used), sums = new Float64Array(waves * used);
		for (let k = 0; k < node.length; k++) {
			const place = places[func[node[k]]];
			all[place] += count[k];
			addCount(this.shape, sums, block[k], count[k], place * waves);
		}
		return { all, sums, places, known: new Array(used).fill(null) };
	}

	/** Of a function's own samples, and of all with it in their chain. */
	ofFunction(f) {
		this.prepare();
		if (!this.shape) return this.independent;
		const { all, sums, places, known } = (this.own ||= this.addFunctions()), place = places[f] ?? 0;
		return known[place] ??= measureNoise(all[place], sums, this.shape, this.independent, place * this.shape.waves);
	}

	ofTotal(f) {
		return this.remember(`t${f}`, () => {
			let end = 0;
			return this.nodesOf(f).filter(i => i >= end && (end = this.tree.end[i])).map(i => [i, this.tree.end[i]]);
		});
	}
}
