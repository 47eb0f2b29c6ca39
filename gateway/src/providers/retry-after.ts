import type { HeaderReader } from "#core/index.ts";
/**
 * How long an upstream asks to wait, in whole milliseconds: `retry-after-ms`, else `retry-after` as seconds or as an
 * HTTP date (RFC 9110, 10.2.3). undefined when it does not say, or says something unreadable.
 */
export function readRetryAfter(headers: HeaderReader, now: number): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) return Math.ceil(Number(text) * 1_000);
  // Date.parse alone would take almost any text with a digit for a date.
  if (!/^[A-Z][a-z]{2,8}, .*GMT$/.test(text.trim())) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
