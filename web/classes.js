// SPDX-License-Identifier: GPL-2.0-or-later
// The class or namespace that a function is in, from its name as it is shown.

const OPENING = '<([{', CLOSING = '>)]}';

/** Whether a word is at place i, and no part of a longer one. */
function isWord(name, i, word) {
	return name.startsWith(word, i) && !/[\w$]/.test(name[i - 1] ?? '') && !/[\w$]/.test(name[i + word.length] ?? '');
}

/** The number of characters that separate parts of a name at place i: "::", and "." or "#" in some languages; 0: it is none. */
function separatorAt(name, i, hasDots) {
	if (name[i] === ':' && name[i + 1] === ':') return 2;
	return hasDots && (name[i] === '.' || name[i] === '#') ? 1 : 0;
}

/** What is before the last part of a function's qualified name: "std::vector<int>" of "std::vector<int>::push_back(int const&)"; ''
 * if there is nothing. hasDots: the language separates parts by "." or "#", too. A type of a result is not part of a name, nor is the
 * hash that Rust appends. */
export function className(name, hasDots = false) {
	const text = name.replace(/::h[0-9a-f]{16}(?=$|\s)/, '');
	let depth = 0, from = 0, last = -1, hasArguments = false;
	for (let i = 0; i < text.length; i++) {
		const c = text[i], separator = depth ? 0 : separatorAt(text, i, hasDots);
		if (!depth && isWord(text, i, 'operator')) break;
		if (OPENING.includes(c)) {
			hasArguments ||= !depth && c === '(' && !/^\(anonymous|^\(\*/.test(text.slice(i, i + 10)) && !/decltype ?$/.test(text.slice(0, i));
			depth++;
		} else if (CLOSING.includes(c)) {
			if (depth && !(c === '>' && text[i - 1] === '-')) depth--;
		} else if (separator) {
			last = i;
			i += separator - 1;
		} else if (c === ' ' && !depth && !hasArguments) {
			from = i + 1;
			last = -1;
		}
	}
	return last > from ? text.slice(from, last) : '';
}
