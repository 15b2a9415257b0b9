// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, names and elements for people.

const grouped = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** 12345 as "12 345", with narrow blanks. */
export function int(n) {
	return grouped.format(Math.round(n)).replace(/,/g, '\u202f');
}

/** A count of a profile: "12 345" or, if it is of microseconds, "12.345 ms". */
export function count(head, n) {
	return head.unit === 'us' ? `${int(Math.trunc(n / 1000))}.${String(Math.round(n) % 1000).padStart(3, '0')} ms` : int(n);
}

/** The same in a sentence: "12 345 samples", "12.345 ms". */
export function amount(head, n) {
	return head.unit === 'us' ? count(head, n) : `${int(n)} sample${n === 1 ? '' : 's'}`;
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
