// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, names and elements for people.

const grouped = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** 12345 as "12 345", with narrow blanks. */
export function int(n) {
	return grouped.format(Math.round(n)).replace(/,/g, '\u202f');
}

/** A share of 1 in percent, with no more digits than it has meaning: "34.4", "4.26", "<0.01", "0". */
export function pct(share) {
	const v = share * 100;
	if (!v) return '0';
	if (v >= 99.95) return '100';
	if (v >= 10) return v.toFixed(1);
	return v >= 0.01 ? v.toFixed(2) : '<0.01';
}

/** Seconds of CPU time. */
export function cpuTime(s) {
	if (s >= 3600) return (s / 3600).toFixed(1) + ' CPU-h';
	if (s >= 60) return (s / 60).toFixed(1) + ' CPU-min';
	if (s >= 1) return s.toFixed(2) + ' CPU-s';
	return (s * 1000).toFixed(0) + ' CPU-ms';
}

/** A length of time. */
export function lengthOf(ms) {
	const s = ms / 1000;
	if (s >= 86400) return (s / 86400).toFixed(1) + ' days';
	if (s >= 3600) return (s / 3600).toFixed(1) + ' h';
	if (s >= 60) return (s / 60).toFixed(1) + ' min';
	return s.toFixed(1) + ' s';
}

/** A time of day, in UTC; with its date if that is asked for. */
export function clock(ms, withDate = false) {
	const text = new Date(ms).toISOString();
	return (withDate ? text.slice(0, 10) + ' ' : '') + text.slice(11, 19);
}

const Z = 1.959963984540054;

/** Wilson's interval at 95 %, as opreport --errors prints it. A sample counts as weight samples. */
export function wilson(k, n, weight = 1) {
	if (!n) return [0, 1];
	const m = n / weight, p = k / n, z2 = Z * Z / m;
	const middle = (p + z2 / 2) / (1 + z2);
	const half = Z / (1 + z2) * Math.sqrt(p * (1 - p) / m + z2 / (4 * m));
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** The probability that two shares differ so much by chance: opreport's test, two-sided. */
export function pvalue(k1, n1, k2, n2, weight = 1) {
	const a = k1 / n1, b = k2 / n2, p = (k1 + k2) / (n1 + n2), r = weight / n1 + weight / n2;
	const deviation = Math.sqrt(p * (1 - p) * r);
	if (!deviation) return 1;
	const z = Math.max(0, Math.abs(a - b) - r / 2) / deviation;
	const t = 1 / (1 + 0.3275911 * z / Math.SQRT2);
	const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t +
		0.254829592) * t;
	return series * Math.exp(-z * z / 2);
}

/** Whether two shares differ by more than chance, at 95 %. */
export function differs(k1, n1, k2, n2, weight = 1) {
	return n1 > 0 && n2 > 0 && pvalue(k1, n1, k2, n2, weight) <= 0.05;
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

/** A word, quoted for a shell if that is needed. */
export function shellWord(word) {
	return /^[\w/.+:,@%=-]*$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

const NAME_LENGTH_MAX = 4096;

/** A name as it can be shown: without characters that control the terminal or the direction of text. */
export function visible(name) {
	const text = name ?? '(no symbol)';
	return text.slice(0, NAME_LENGTH_MAX).replace(
		/[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
		c => '\\x' + c.charCodeAt(0).toString(16).padStart(2, '0'));
}

/** A long name without what is in brackets: "a::b<...>::c(...)" is "a::b::c". */
export function shorten(name) {
	if (name.length < 40 || name[0] === '[' || name.length > 2000) return name;
	let out = '', depth = 0;
	for (const c of name) {
		if (c === '<' || c === '(') depth++;
		else if ((c === '>' || c === ')') && depth) depth--;
		else if (!depth) out += c;
	}
	return out.trim() || name;
}

/** An element; attributes named onX are listeners, children are texts and elements. */
export function el(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
		else if (value !== undefined && value !== false) e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children.flat().filter(c => c !== null && c !== undefined));
	return e;
}

/** An element with style properties, which the page's policy does not allow as attributes. */
export function styled(tag, properties, attributes = {}, ...children) {
	const e = el(tag, attributes, ...children);
	for (const [name, value] of Object.entries(properties)) e.style.setProperty(name, value);
	return e;
}
