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
  const error = objectOf(refusalObject(answer.body)["error"]);
  const type = textOf(error["type"]);
  // What is wrong with a thread is so at its one account, and its caller knows what to do.
  const isOfThread = textOf(objectOf(error["details"])["error_code"])?.startsWith("thread_") === true;
  if (isOfThread && answer.status < 500) return classifyByStatus(answer).with({ retry: "never" });
  if (type === "billing_error") return classifyByStatus(answer, { account: "credit" });
  // 403 says what the account's key may do, and names the account's organisation.
  return classifyByStatus(answer, { account: answer.status === 403 ? "credential" : null });
}
