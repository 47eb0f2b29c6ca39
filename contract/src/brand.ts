/** The name of the product if the installation sets none. */
const defaultProductName = "Sluice";

/** Bounds of the setting `console.logo`. */
const logoBytesMax = 24 * 1024;
const logoPixelsMax = 1_024;
const prefix = "data:image/png;base64,";
/** As a data URL, in base64. */
export const logoTextMax = prefix.length + Math.ceil(logoBytesMax / 3) * 4;

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] as const;

/** The problem of a logo, to follow the name of its setting: "must be …". null: valid. Only PNG, because SVG images can contain scripts. */
export function logoFault(text: string): string | null {
  if (!text.startsWith(prefix)) return "must be a PNG image as a data URL: data:image/png;base64,…";
  if (text.length > logoTextMax) return `must be at most ${logoBytesMax / 1_024} KB`;
  const encoded = text.slice(prefix.length);
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return "must be in base64";
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  if (bytes.length < 24 || pngStart.some((byte, at) => bytes[at] !== byte)) return "must be a PNG image";
  const view = new DataView(bytes.buffer);
  const sides = [view.getUint32(16), view.getUint32(20)];
  if (sides.every((pixels) => pixels >= 1 && pixels <= logoPixelsMax)) return null;
  return `must be at most ${logoPixelsMax} pixels wide and high`;
}

/** The name of the product in an installation. */
export function productName(settings: { readonly "console.name": string }): string {
  return settings["console.name"].trim() || defaultProductName;
}
