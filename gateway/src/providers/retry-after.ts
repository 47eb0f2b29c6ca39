import { bounds, type HeaderReader } from "#core/index.ts";

/**
 * How long an upstream asks to wait, in whole milliseconds: `retry-after-ms`, else `retry-after` as seconds or as an
 * HTTP date (RFC 9110, 10.2.3). undefined when it does not say, or says something unreadable.
 */
export function readRetryAfter(headers: HeaderReader, now: number): number | undefined {
  const waitMs = exactWait(headers.get("retry-after-ms")) ?? wait(headers.get("retry-after"), now);
  // Whoever is told to wait for a thousand years is told nothing that is true.
  return waitMs === undefined ? undefined : Math.min(Math.ceil(waitMs), bounds.retryAfterReadMsMax);
}

function exactWait(text: string | null): number | undefined {
  return text !== null && plain.test(text) ? Number(text) : undefined;
}

function wait(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  // A proxy may have put one more behind it.
  const seconds = text.split(",", 1)[0] ?? "";
  if (plain.test(seconds)) return Number(seconds) * 1_000;
  // Date.parse alone would take almost any text with a digit for a date.
  if (!/^[A-Z][a-z]{2,8}, .*GMT$/.test(text.trim())) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const plain = /^\s*\d+(\.\d+)?\s*$/;
