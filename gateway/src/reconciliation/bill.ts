import { type BillClass, billClasses, type UsageClassName } from "@sluice/contract/words";
import { Failure, type NanoUsd } from "#core/index.ts";

/** A row of a vendor's bill: usage, cost or both, of one model and class on one UTC day. */
export interface BillLine {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** The vendor's name of the model; "" for charges without a model, such as credits. */
  readonly model: string;
  readonly usageClass: BillClass;
  /** Tokens, images, seconds or calls; null: the row has no quantity. */
  readonly units: number | null;
  /** null: the row has no amount. */
  readonly costNanoUsd: NanoUsd | null;
  /** Requests of the model. Given on one row per model and day; null elsewhere, and where the vendor does not count them. */
  readonly requests: number | null;
  /** Service tier; null: standard or unknown. */
  readonly tier: string | null;
}

/** Rows of a file. null: a row that is not part of the bill. A caller may pause between rows, because a file may have millions. */
export type BillRows = Iterable<BillLine | null>;

/** The class in which a vendor bills each of our usage classes. null: part of another class. */
export const billClassOf: { readonly [Class in UsageClassName]: BillClass | null } = {
  inputUncached: "input",
  audioInput: "input",
  imageInput: "input",
  cacheRead: "cache_read",
  cacheReadAudio: "cache_read",
  cacheWrite5m: "cache_write",
  cacheWrite1h: "cache_write",
  output: "output",
  separateReasoning: "output",
  audioOutput: "output",
  imageOutput: "output",
  reasoning: null,
  unexplained: null,
  webSearches: "tools",
  fileSearches: "tools",
  mapSearches: "tools",
  codeSessions: "tools",
  chargedRequests: "requests",
  images: "other",
  videoSeconds: "other",
  audioSeconds: "other",
  characters: "other",
  searchUnits: "tools",
};

/** The class that a vendor's text names: `gpt-6-astra, input_tokens`, `cache-read-input-token-count`, `output`. */
export function classNamed(text: string): BillClass {
  const name = text.toLowerCase().trim();
  const exact = billClasses.find((each) => each === name);
  if (exact !== undefined) return exact;
  const words = name.replaceAll("_", " ").replace(/\b(?:un|non[- ]?)cached/g, "");
  if (/\b(?:credit|refund|discount|promotion)/.test(words)) return "credit";
  if (/cach|\bcd\b/.test(words)) return /writ|creat/.test(words) ? "cache_write" : "cache_read";
  if (/search|interpreter|container|session|execution|\btools?\b/.test(words)) return "tools";
  if (/output|outp\b|completion|reasoning|\bopt\b/.test(words)) return "output";
  if (/input|inp\b|prompt/.test(words)) return "input";
  if (/\brequests?\b/.test(words)) return "requests";
  return "other";
}

/**
 * A decimal as text, in USD or with `scale` decimal places fewer (cents: 2), as nano-USD. Exact, rounded half away from zero. null: no
 * number, or one that is too large.
 */
export function decimalToNano(text: string, scale = 0): NanoUsd | null {
  const [found, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^\s*([+-]?)(\d{0,20})(?:\.(\d{0,60}))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text) ?? [];
  if (found === undefined || whole + fraction === "") return null;
  const digits = whole + fraction;
  const shift = 9 - scale + Number(exponent) - fraction.length;
  let nano = 0n;
  if (shift >= 0) nano = BigInt(digits) * 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    nano = (BigInt(digits) + divisor / 2n) / divisor;
  }
  if (nano > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  return sign === "-" && nano !== 0n ? -Number(nano) : Number(nano);
}

/** Parses JSON and keeps numbers as their text, because an amount must not pass through a float. */
export function parseExact(json: string): unknown {
  const keepText = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  return JSON.parse(json, keepText as (key: string, value: unknown) => unknown);
}

export type ExactObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): ExactObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ExactObject) : {};
}

export function objectsOf(value: unknown): readonly ExactObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

export function textIn(object: ExactObject, name: string): string | null {
  const value = object[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** A name, a unit or a number in a file, without what no vendor writes: patterns would take hours for a long text or many spaces. */
export function plainText(text: string): string {
  return text.trim().slice(0, plainMax).replace(/\s+/g, " ");
}

const plainMax = 500;

/** A count; null: absent. Vendors count tokens in whole numbers, and thousands of them in decimals. */
export function countIn(object: ExactObject, name: string): number | null {
  return countOf(textIn(object, name));
}

export function countOf(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** A page of a vendor's report. */
export interface ReportPage {
  readonly rows: readonly ExactObject[];
  /** null: the last page. */
  readonly next: string | null;
}

/** The next page of a vendor's report; null: this is the last one. Throws if a page follows that has no name: a part is not the bill. */
export function nextPageOf(page: ExactObject): string | null {
  if (page["has_more"] !== true) return null;
  const next = textIn(page, "next_page");
  if (next === null)
    throw new Failure("upstream_error", "The vendor's report has more pages, but does not name the next one.");
  return next;
}

/** Throws unless a row of a vendor's report is in USD; null: the vendor names no currency. */
export function requireUsd(currency: string | null): void {
  if (currency === null || currency.toUpperCase() === "USD") return;
  const reason = `The vendor's bill is in ${plainText(currency)}`;
  throw new Failure("upstream_error", `${reason}. Only USD can be compared with the ledger.`);
}

/** The UTC day of a date, of RFC 3339 or of Unix seconds; null: not a date. */
export function dayOf(text: string): string | null {
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : null;
  if (date !== null) return Number.isNaN(Date.parse(date)) ? null : date;
  const ms = /^\d{9,11}$/.test(text) ? Number(text) * 1_000 : Date.parse(withZone(text));
  return Number.isNaN(ms) ? null : new Date(ms).toISOString().slice(0, 10);
}

/** Dates without a zone are UTC in every bill. */
function withZone(text: string): string {
  if (/[zZ]$|[+-]\d{2}:?\d{2}$/.test(text)) return text.replace(" UTC", "Z");
  return `${text.replace(" UTC", "").replace(" ", "T")}Z`;
}

export const dayMs = 86_400_000;

export function dayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
