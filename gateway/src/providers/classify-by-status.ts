import { bounds, Failure, type FailureOptions, type HeaderReader } from "#core/index.ts";
import { type JsonObject, parseFirst } from "#protocols/index.ts";
import type { BadAnswer } from "./outbound-draft.ts";

/** What a family of APIs says in its error body and headers, beyond the status. */
export interface RefusalReading {
  /**
   * Whose fault it is when it is the account's: its credential (or what that may do), or its credit. The caller is
   * never shown such an answer: it is not about the caller's own key, and often names the account.
   */
  readonly account?: "credential" | "credit" | null;
  /** Waiting does not help: the quota is spent. */
  readonly spent?: boolean;
  /** Another account may take the very same request. */
  readonly elsewhere?: boolean;
  /** A 403 or 404 that is certainly about the account's model, not about what the request holds or names. */
  readonly lacksModel?: boolean;
  readonly retryAfterMs?: number | undefined;
}

/**
 * A bad answer by its status, the same for every family. Request faults (4xx) are the caller's and go back as they
 * are; what is the account's or the upstream's fault is retried elsewhere. When nothing else is left it becomes 502, but for an
 * overload (503, 529): that is told with its status, because clients wait and try again when they hear of one.
 * Nothing the upstream wrote stands in a message.
 */
export function classifyByStatus(answer: BadAnswer, reading: RefusalReading = {}): Failure {
  const { status, headers } = answer;
  const retryAfterMs = readRetryAfter(headers, answer.now) ?? reading.retryAfterMs;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const failure = (message: string, options: FailureOptions): Failure =>
    new Failure("upstream_error", message, { ...wait, arrival: "refused", ...options });
  const upstream = {
    status,
    contentType: headers.get("content-type") ?? "application/json",
    body: answer.body,
  };

  if (status === 401 || reading.account === "credential") {
    return failure("The provider refused the gateway's credentials.", credentialFault);
  }
  if (status === 402 || reading.account === "credit") {
    return failure("The provider's account has no credit left.", { ...credentialFault, accountFault: "credit" });
  }
  switch (status) {
    case 403:
    case 404:
      return failure(`The upstream answered ${status}.`, {
        retry: "other",
        cools: reading.lacksModel === true ? "now" : "once_served_elsewhere",
        upstream,
      });
    case 408:
    case 409:
    case 425:
      return failure(`The upstream answered ${status}.`, { retry: "same", upstream });
    case 429:
      return failure("The upstream's rate limit is exceeded.", {
        retry: reading.spent === true ? "other" : "same",
        cools: "now",
        upstream,
      });
    case 503:
    case 529:
      return failure("The upstream is overloaded.", { retry: "same", unhealthy: true, upstream });
    default:
      if (status >= 500) return failure(`The upstream answered ${status}.`, { retry: "same", unhealthy: true });
      if (status >= 400) {
        return failure(`The upstream answered ${status}.`, { retry: reading.elsewhere ? "other" : "never", upstream });
      }
      return failure(`The upstream answered ${status}, which is not an answer to this call.`, { retry: "other" });
  }
}

const credentialFault = { retry: "other", unhealthy: true, accountFault: "credential" } as const;

/** For an account whose credential is missing or of no use, before anything was sent. */
export function unusableCredential(message: string): Failure {
  return new Failure("upstream_error", message, credentialFault);
}

/** The object that an error body is, or that is the first of its list (Google); empty when there is none. */
export function refusalObject(body: Uint8Array): JsonObject {
  return parseFirst(decoder.decode(body)) ?? {};
}

const decoder = new TextDecoder();

/**
 * How long an upstream asks to wait, in whole milliseconds: `retry-after-ms`, else `retry-after` as seconds or as an
 * HTTP date (RFC 9110, 10.2.3). undefined when it does not say, or says something unreadable.
 */
export function readRetryAfter(headers: HeaderReader, now: number): number | undefined {
  const exactMs = headers.get("retry-after-ms") ?? "";
  const waitMs = plain.test(exactMs) ? Number(exactMs) : wait(headers.get("retry-after"), now);
  // Whoever is told to wait for a thousand years is told nothing that is true.
  return waitMs === undefined ? undefined : Math.min(Math.ceil(waitMs), bounds.retryAfterReadMsMax);
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
