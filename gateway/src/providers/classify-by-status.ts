import { bounds, Failure, type FailureOptions, type HeaderReader } from "#core/index.ts";
import { type JsonObject, parseFirst } from "#protocols/index.ts";
import type { BadAnswer } from "./outbound-draft.ts";

/** Facts from an API's error body and headers, in addition to the status. */
export interface RefusalHints {
  /**
   * The account's fault: its credential (or permissions), or its credit. Callers never see such an answer, which is not
   * about their key and often names the account.
   */
  readonly account?: "credential" | "credit" | null;
  /** Waiting does not help. */
  readonly quotaExhausted?: boolean;
  /** Another account may accept the same request. */
  readonly retryElsewhere?: boolean;
  /** The 403 or 404 is certainly about the model. */
  readonly lacksModel?: boolean;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Classifies a bad answer by its status. 4xx about the request go back to the caller unchanged; faults of the account or
 * the upstream are retried elsewhere and otherwise become 502, except overloads (503, 529), which keep their status because
 * clients retry them. Messages contain no text of the upstream.
 */
export function classifyByStatus(answer: BadAnswer, hints: RefusalHints = {}): Failure {
  const { status, headers } = answer;
  const retryAfterMs = readRetryAfter(headers, answer.now) ?? hints.retryAfterMs;
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const failure = (message: string, options: FailureOptions): Failure =>
    new Failure("upstream_error", message, { ...wait, arrival: "refused", ...options });
  const upstream = {
    status,
    contentType: headers.get("content-type") ?? "application/json",
    body: answer.body,
  };

  if (status === 401 || hints.account === "credential") {
    return failure("The provider refused the gateway's credentials.", credentialFault);
  }
  if (status === 402 || hints.account === "credit") {
    return failure("The provider's account has no credit left.", { ...credentialFault, accountFault: "credit" });
  }
  switch (status) {
    case 403:
    case 404:
      return failure(`The upstream answered ${status}.`, {
        retry: "other",
        cools: hints.lacksModel === true ? "now" : "once_served_elsewhere",
        upstream,
      });
    case 408:
    case 409:
    case 425:
      return failure(`The upstream answered ${status}.`, { retry: "same", upstream });
    case 429:
      return failure("The upstream's rate limit is exceeded.", {
        retry: hints.quotaExhausted === true ? "other" : "same",
        cools: "now",
        upstream,
      });
    case 503:
    case 529:
      return failure("The upstream is overloaded.", { retry: "same", unhealthy: true, upstream });
    default:
      if (status >= 500) return failure(`The upstream answered ${status}.`, { retry: "same", unhealthy: true });
      if (status >= 400) {
        return failure(`The upstream answered ${status}.`, {
          retry: hints.retryElsewhere ? "other" : "never",
          upstream,
        });
      }
      return failure(`The upstream answered ${status}, which is unexpected for this call.`, { retry: "other" });
  }
}

const credentialFault = { retry: "other", unhealthy: true, accountFault: "credential" } as const;

/** The error body as an object, or the first of a list (Google); empty if it is neither. */
export function refusalObject(body: Uint8Array): JsonObject {
  return parseFirst(decoder.decode(body)) ?? {};
}

const decoder = new TextDecoder();

/**
 * Retry delay in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date (RFC 9110, 10.2.3).
 * undefined: none, or unreadable.
 */
export function readRetryAfter(headers: HeaderReader, now: number): number | undefined {
  const exactMs = headers.get("retry-after-ms") ?? "";
  const waitMs = plain.test(exactMs) ? Number(exactMs) : wait(headers.get("retry-after"), now);
  // Ignores absurd values.
  return waitMs === undefined ? undefined : Math.min(Math.ceil(waitMs), bounds.retryAfterReadMsMax);
}

function wait(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  // A proxy may have appended another value.
  const seconds = text.split(",", 1)[0] ?? "";
  if (plain.test(seconds)) return Number(seconds) * 1_000;
  // Date.parse accepts almost any text with a digit.
  if (!/^[A-Z][a-z]{2,8}, .*GMT$/.test(text.trim())) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const plain = /^\s*\d+(\.\d+)?\s*$/;
