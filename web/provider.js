// SPDX-License-Identifier: GPL-2.0-or-later
// Where the data come from: from the page itself, or from the server that sent it.
import { decode } from './model.js';

function unpacked(stream) {
	// @ts-ignore: TypeScript 4.8 does not know it
	return new Response(stream.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

/** Whether a server sent the page. */
export const isServed = !document.getElementById('data').textContent.trim();

async function ask(path) {
	const answer = await fetch(path).catch(() => { throw new Error('the server does not answer. Is it still running?'); });
	if (!answer.ok) throw new Error((await answer.text()) || `the server answered ${answer.status}`);
	return answer;
}

function bytesOf(text) {
	return Uint8Array.from(atob(text), c => c.charCodeAt(0));
}

async function embedded(id) {
	const text = document.getElementById(id)?.textContent.trim();
	return text && unpacked(new Blob([bytesOf(text)]).stream());
}

/** The sources in the page: { wanted (how many there were), functions: Map of "ADDRESS/IMAGE" to what loadSource() returns }. */
export async function loadSources() {
	const bytes = await embedded('sources'), { wanted, functions } = bytes ? JSON.parse(new TextDecoder().decode(bytes)) : { wanted: 0, functions: [] };
	return { wanted, functions: new Map(functions) };
}

/** What questions about one of several events begin with; '': about the usual one. */
function about(event) {
	return event ? `event/${encodeURIComponent(event)}/` : '';
}

/** What questions about the profile to compare with begin with: that of a session or the second one (''). */
function aboutSecond(session) {
	return session ? `session/${encodeURIComponent(session)}/` : 'second/';
}

/** The lines and instructions of a function: "ADDRESS/TIME/IMAGE", of the profile to compare with unless its session is null. */
export async function loadSource(question, event, session = /** @type {string | null} */ (null)) {
	return (await ask(about(event) + (session === null ? '' : aboutSecond(session)) + 'source/' + question.split('/').map(encodeURIComponent).join('/'))).json();
}

/** The source files that functions begin in, by image and address: { images, files }; of the profile to compare with unless its session
 * is null. */
export async function loadFiles(event, session = /** @type {string | null} */ (null)) {
	return (await ask(`${about(event)}${session === null ? '' : aboutSecond(session)}files`)).json();
}

/** The same profile without functions, which a server has long before the whole if there are call chains; else null. */
export async function loadApplications(event) {
	const bytes = isServed && await (await ask(about(event) + 'applications')).arrayBuffer();
	return bytes && bytes.byteLength ? decode(bytes) : null;
}

/** The profile of another event in the page, by its key; null: there is none. */
async function loadEmbedded(event) {
	const whole = decode(await embedded('data')), { events, event_key: shown } = whole.head;
	const parts = document.getElementById('events')?.textContent.trim().split(/\s+/) ?? [], at = events?.filter(key => key !== shown).indexOf(event) ?? -1;
	return event && event !== shown && at >= 0 && parts[at] ? decode(await unpacked(new Blob([bytesOf(parts[at])]).stream())) : whole;
}

/** The profile, of the event with this key. */
export async function load(event) {
	return isServed ? decode(await (await ask(about(event) + 'data')).arrayBuffer()) : loadEmbedded(event);
}

/** The profile to compare it with: that of a session, or the second one that the server was started with or the page has ('').
 * null: there is none. */
export async function loadSecond(event, session) {
	const bytes = isServed ? await (await ask(`${about(event)}${aboutSecond(session)}data`)).arrayBuffer() : session ? null : await embedded('second');
	return bytes ? decode(bytes) : null;
}
