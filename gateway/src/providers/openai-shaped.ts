import { Failure, type FailureOptions, type Provider } from "#core/index.ts";
import type { BadAnswer } from "./kind.ts";
import { readRetryAfter } from "./retry-after.ts";

/** `Authorization: Bearer`, as OpenAI and all that copy it. */
export function authorizeBearer(provider: Provider, headers: Record<string, string>): void {
  if (provider.secret !== null) headers["authorization"] = `Bearer ${provider.secret.reveal()}`;
}

/**
 * A bad answer of an OpenAI-shaped API. Request faults (4xx) are the caller's and go back as they are; what is the
 * account's or the upstream's fault is retried elsewhere, and becomes 502 when nothing else is left.
 */
export function classifyOpenAiShaped(answer: BadAnswer): Failure {
  const { status, headers } = answer;
  const retryAfterMs = readRetryAfter(headers, answer.now);
  const upstream = {
    status,
    contentType: headers.get("content-type") ?? "application/json",
    body: answer.body,
  };
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const failure = (message: string, options: FailureOptions): Failure =>
    new Failure("upstream_error", message, { ...wait, ...options });

  switch (status) {
    case 401:
      // The account's credential, not the caller's: the caller must not be told that its own key is wrong.
      return failure("The provider refused the gateway's credentials.", { retry: "other", unwell: true });
    case 402:
      return failure("The provider's account has no credit left.", { retry: "other", unwell: true });
    case 403:
    case 404:
      return failure(`The upstream answered ${status}.`, { retry: "other", upstream });
    case 408:
    case 409:
    case 425:
      return failure(`The upstream answered ${status}.`, { retry: "same", upstream });
    case 429:
      return failure("The upstream's rate limit is exceeded.", {
        retry: isQuotaSpent(answer.body) ? "other" : "same",
        upstream,
      });
    default:
      if (status >= 500) return failure(`The upstream answered ${status}.`, { retry: "same", unwell: true });
      if (status >= 400) return failure(`The upstream answered ${status}.`, { retry: "never", upstream });
      return failure(`The upstream answered ${status}, which is not an answer to this call.`, { retry: "other" });
  }
}

/** 429 with code insufficient_quota does not pass by waiting. */
function isQuotaSpent(body: Uint8Array): boolean {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(body)) as { error?: { code?: unknown; type?: unknown } };
    return parsed.error?.code === "insufficient_quota" || parsed.error?.type === "insufficient_quota";
  } catch {
    return false;
  }
}
