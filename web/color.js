// SPDX-License-Identifier: GPL-2.0-or-later
// All colours: of the page's canvases, tables and tooltips.

/** OKLCH as "#rrggbb": equal steps look equal. */
export function oklch(lightness, chroma, hue) {
	const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
	const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const channel = x => {
		const v = x <= 0.0031308 ? 12.92 * x : 1.055 * Math.max(x, 0) ** (1 / 2.4) - 0.055;
		return Math.round(Math.min(1, Math.max(0, v)) * 255).toString(16).padStart(2, '0');
	};
	return '#' + channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) +
		channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) +
		channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s);
}

/** Kinds of functions, by their number in the data (lib/profile/page/internal/page_functions.h), with
 * lightness on light and on dark ground, chroma and hue. */
const KIND_TABLE = [
	['application', 0.86, 0.40, 0.000, 0],
	['program', 0.83, 0.50, 0.110, 70],
	['library', 0.91, 0.44, 0.075, 100],
	['kernel', 0.73, 0.41, 0.100, 250],
	['Python, PHP, Ruby', 0.84, 0.50, 0.090, 165],
	['Java, Go', 0.76, 0.37, 0.060, 200],
	['JIT', 0.88, 0.54, 0.070, 335],
	['chain cut', 0.97, 0.27, 0, 0],
	['no symbol', 0.90, 0.36, 0.012, 80],
	['rest', 0.93, 0.31, 0.004, 250],
	['too rare to be kept', 0.93, 0.31, 0.004, 250],
];
export const KINDS = KIND_TABLE.map(k => String(k[0]));
export const KIND_APPLICATION = 0, KIND_KERNEL = 3, KIND_CUT = 7, KIND_NONE = 8, KIND_REST = 9, KIND_RARE = 10;
/** Those whose names have parts that are separated by dots. */
export const KINDS_WITH_DOTS = [4, 5];

const VARIANTS = 5;

function hash(i) {
	return ((i * 2654435761) >>> 0) / 4294967296;
}

const LIGHT = {
	text: '#1b1f24', dim: '#59626c', small: '#cfd4da', bg: '#ffffff', panel: '#f6f7f9', border: '#d5d9df',
	match: '#f472c0', A: '#0b62c4', B: '#a85a00', bad: '#b3261e', warn: '#8a5a00', focus: '#000000',
};
const DARK = {
	text: '#f1f3f5', dim: '#9aa3ad', small: '#3a4048', bg: '#15181c', panel: '#1d2126', border: '#363c44',
	match: '#d64fa8', A: '#6cb2ff', B: '#ffb454', bad: '#ff8f86', warn: '#f0b849', focus: '#ffffff',
};
const APPLICATIONS = [[70, 0.12], [250, 0.11], [170, 0.10], [330, 0.11], [110, 0.10], [25, 0.12], [200, 0.08],
	[290, 0.11]];

/** The colours for light or dark ground. */
export function palette(dark) {
	const kind = KIND_TABLE.map(([, light, onDark, chroma, hue]) =>
		Array.from({ length: VARIANTS }, (_, v) =>
			oklch(Number(dark ? onDark : light) + (v - 2) * 0.014, Number(chroma), Number(hue))));
	const apps = APPLICATIONS.map(([hue, chroma], i) =>
		oklch((dark ? 0.62 : 0.70) + (i % 2 ? -0.05 : 0.05), chroma, hue));
	const images = Array.from({ length: 12 }, (_, i) =>
		oklch((dark ? 0.45 : 0.83) + (i % 3 - 1) * 0.04, 0.085, i * 137.5 % 360));
	apps.push(dark ? '#5b626c' : '#b9bfc7');
	return {
		...(dark ? DARK : LIGHT), dark, kind, apps,
		/** Of a function of an image, whose number chooses the shade. */
		ofKind: (k, image) => kind[k][hash(image) * VARIANTS | 0],
		ofImage: image => images[hash(image + 1) * 12 | 0],
		/** From 0 to 1. */
		heat: t => oklch(dark ? 0.30 + 0.27 * t : 0.97 - 0.27 * t, 0.02 + 0.15 * t, 85 - 50 * t),
		/** From -1, less, to 1, more; grey if it may be chance. */
		difference: (t, sure) => {
			if (!sure) return dark ? '#41464e' : '#d9dce1';
			return t < 0 ? oklch(dark ? 0.42 - 0.10 * t : 0.86 + 0.26 * t, 0.05 - 0.10 * t, 245)
				: oklch(dark ? 0.44 + 0.10 * t : 0.88 - 0.20 * t, 0.06 + 0.11 * t, 60);
		},
	};
}
