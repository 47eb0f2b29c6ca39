import { bounds, type Citation, type CitedSource } from "#core/index.ts";
import type { Warn } from "../codec.ts";

/** Null for a source without a URL. */
export function urlCitation(
  url: string | null,
  title: string | null,
  more: Partial<Pick<Citation, "span" | "quote">> = {},
): Citation | null {
  if (url === null || url === "") return null;
  return { span: null, quote: null, source: { kind: "url", url, title }, ...more };
}

export function fileCitation(
  source: Omit<Extract<CitedSource, { kind: "file" }>, "kind">,
  more: Partial<Pick<Citation, "span" | "quote">> = {},
): Citation {
  return { span: null, quote: null, source: { kind: "file", ...source }, ...more };
}

/** Null for an invalid span. */
export function spanOf(start: unknown, end: unknown): Citation["span"] {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return null;
  const [from, to] = [Number(start), Number(end)];
  return from < 0 || to < from ? null : { start: from, end: to };
}

export const tooManyCitations = "citations beyond what one text may have were dropped";

/** Holds the citations of a block until its length is known. */
export class CitationBuffer {
  readonly #warn: Warn;
  #held: Citation[] = [];

  constructor(warn: Warn) {
    this.#warn = warn;
  }

  add(citation: Citation): void {
    if (this.#held.length < bounds.blockCitationsMax) this.#held.push(citation);
    else this.#warn(tooManyCitations);
  }

  take(): readonly Citation[] {
    const held = this.#held;
    if (held.length > 0) this.#held = [];
    return held;
  }
}

/** For dialects that cite only web pages. */
export const documentCitationDropped = "citations of documents cannot be translated and were dropped";

/** The cited span within a text of this length. */
export function spanIn({ span }: Citation, length: number): { readonly start: number; readonly end: number } {
  return { start: Math.min(span?.start ?? 0, length), end: Math.min(span?.end ?? length, length) };
}
