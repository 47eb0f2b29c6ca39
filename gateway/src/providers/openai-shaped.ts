import type { Failure } from "#core/index.ts";
import { objectOf, textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { BadAnswer, OutboundDraft } from "./kind.ts";

/** Sends the account's key in a header, after `prefix`. */
export function authorizeWith(header: string, prefix = "") {
  return ({ provider: { secret }, headers }: OutboundDraft): void => {
    if (secret !== null) headers[header] = prefix + secret.reveal();
  };
}

export const authorizeBearer = authorizeWith("authorization", "Bearer ");

/** Refusals are `{"error":{message,type,param,code}}`. */
export function classifyOpenAiShaped(answer: BadAnswer): Failure {
  const code = openaiErrorCode(answer.body);
  if (code === null) return classifyByStatus(answer);
  return classifyByStatus(answer, {
    account: creditCodes.has(code) ? "credit" : null,
    quotaExhausted: quotaCodes.has(code),
    // Groq: the request exceeds the account's tokens per minute.
    retryElsewhere: boundCodes.has(code) || (answer.status === 413 && code === "rate_limit_exceeded"),
    lacksModel: modelCodes.has(code) && !namesOtherModel(answer.body),
  });
}

/** The error's code, else its type. */
export function openaiErrorCode(body: Uint8Array): string | null {
  const error = objectOf(refusalObject(body)["error"]);
  const { code } = error;
  return textOf(code) ?? (typeof code === "number" ? String(code) : null) ?? textOf(error["type"]);
}

/** A 429 that does not pass: OpenAI, Moonshot, Zhipu, Ark. */
const quotaCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "1113",
  "SetLimitExceeded",
  "QuotaExceeded",
]);

/** An unpaid account, without a 402: DashScope, Ark. */
const creditCodes: ReadonlySet<string> = new Set([
  "Arrearage",
  "AccountOverdueError",
  "OperationDenied.ServiceOverdue",
]);

/** The account lacks the model: OpenAI, Azure, Ark. */
const modelCodes: ReadonlySet<string> = new Set([
  "model_not_found",
  "DeploymentNotFound",
  "ModelNotOpen",
  "InvalidEndpointOrModel.NotFound",
]);

/** The refusal is about another model in the request, such as a tool's. */
function namesOtherModel(body: Uint8Array): boolean {
  const param = textOf(objectOf(refusalObject(body)["error"])["param"]);
  return param !== null && param !== "" && param !== "model";
}

/** Only the account that created it can read it: another account may be the right one. */
const boundCodes: ReadonlySet<string> = new Set(["invalid_encrypted_content", "previous_response_not_found"]);
