import { bounds, type Failure } from "#core/index.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { BadAnswer, OutboundDraft } from "./kind.ts";
import { authorizeBearer, authorizeWith } from "./openai-shaped.ts";

/** `x-goog-api-key`, or a bearer token below /openai. Source: Gemini API docs, "OpenAI compatibility". */
export function authorizeGoogleKey(draft: OutboundDraft): void {
  const authorize = draft.url.includes("/openai/") ? authorizeBearer : authorizeWith("x-goog-api-key");
  authorize(draft);
}

/**
 * Refusals are `{"error":{code,message,status,details}}`, sometimes in a list. A wrong key is a 400 with a reason in its
 * details (google.rpc.ErrorInfo).
 */
export function classifyGoogleShaped(answer: BadAnswer): Failure {
  const error = objectOf(refusalObject(answer.body)["error"]);
  const details = arrayOf(error["details"]).map(objectOf);
  const reasons = details.map((detail) => textOf(detail["reason"]));
  const refused = answer.status === 403 || reasons.some((reason) => reason !== null && keyReasons.has(reason));
  return classifyByStatus(answer, {
    account: refused ? "credential" : null,
    quotaExhausted: details.some(isDayQuota),
    // About the state of the account or project, not the request.
    retryElsewhere: error["status"] === "FAILED_PRECONDITION",
    retryAfterMs: retryDelay(details),
  });
}

const keyReasons: ReadonlySet<string> = new Set([
  "API_KEY_INVALID",
  "API_KEY_SERVICE_BLOCKED",
  "SERVICE_DISABLED",
  "ACCESS_TOKEN_EXPIRED",
  "CREDENTIALS_MISSING",
]);

/** google.rpc.RetryInfo: "34s" or "0.5s". */
function retryDelay(details: readonly JsonObject[]): number | undefined {
  for (const detail of details) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(textOf(detail["retryDelay"]) ?? "");
    if (match !== null) return Math.min(Math.ceil(Number(match[1]) * 1_000), bounds.retryAfterReadMsMax);
  }
  return undefined;
}

/** google.rpc.QuotaFailure with a daily quota. */
function isDayQuota(detail: JsonObject): boolean {
  return arrayOf(detail["violations"]).some((violation) =>
    (textOf(objectOf(violation)["quotaId"]) ?? "").includes("PerDay"),
  );
}
