import type { Failure } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { BadAnswer, OutboundDraft } from "./kind.ts";

/** `x-api-key`, as Anthropic's own API. */
export function authorizeApiKey(draft: OutboundDraft): void {
  const { secret } = draft.provider;
  if (secret !== null) draft.headers["x-api-key"] = secret.reveal();
}

/** A bad answer whose error is `{"type":"error","error":{type,message},"request_id"}`. 529 is an overload. */
export function classifyAnthropicShaped(answer: BadAnswer): Failure {
  const type = textOf(objectOf(refusalObject(answer.body)["error"])["type"]);
  if (type === "billing_error") return classifyByStatus(answer, { account: "credit" });
  // 403 says what the account's key may do, and names the account's organisation.
  return classifyByStatus(answer, { account: answer.status === 403 ? "credential" : null });
}
