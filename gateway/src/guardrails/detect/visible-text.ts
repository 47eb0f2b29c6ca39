/**
 * A text as a reader sees it: without characters that have no width, and with ASCII for full-width letters, digits and signs. Both could
 * hide a value from a detector.
 */
export interface VisibleText {
  readonly text: string;
  /** The offset in the original text of each character and of the end. null: all offsets are the same. */
  readonly places: Uint32Array | null;
}

export function visibleText(original: string): VisibleText {
  const text = fullWidth.test(original) ? original.replace(fullWidths, toAscii) : original;
  return invisible.test(text) ? withoutInvisible(text) : { text, places: null };
}

/** Longer runs stay, so that a limited number of characters decides about each place. */
const invisibleRunMax = 16;
const invisible = /[\u00ad\u200b-\u200d\u2060\ufeff]/;
const invisibles = /[\u00ad\u200b-\u200d\u2060\ufeff]+/g;
/** Full-width forms of what occurs in credentials and numbers. Other punctuation is common in Chinese and stays. */
const fullWidth = /[\uff05\uff08-\uff0b\uff0d-\uff1a\uff1d\uff20-\uff3a\uff3f\uff41-\uff5a\u3000]/;
const fullWidths = new RegExp(`${fullWidth.source}+`, "g");

function toAscii(run: string): string {
  let ascii = "";
  for (let at = 0; at < run.length; at++) {
    const code = run.charCodeAt(at);
    ascii += code === 0x3000 ? " " : String.fromCharCode(code - 0xfee0);
  }
  return ascii;
}

function withoutInvisible(original: string): VisibleText {
  const places = new Uint32Array(original.length + 1);
  let text = "";
  let from = 0;
  const copy = (until: number): void => {
    for (let at = from; at < until; at++) places[text.length + at - from] = at;
    text += original.slice(from, until);
  };
  for (const { 0: run, index } of original.matchAll(invisibles)) {
    if (run.length > invisibleRunMax) continue;
    copy(index);
    from = index + run.length;
  }
  copy(original.length);
  places[text.length] = original.length;
  return { text, places };
}
