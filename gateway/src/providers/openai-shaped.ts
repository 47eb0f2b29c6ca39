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

/** A bad answer of an API whose errors are `{"error":{message,type,param,code}}`. */
export function classifyOpenAiShaped(answer: BadAnswer): Failure {
  const code = openaiErrorCode(answer.body);
  if (code === null) return classifyByStatus(answer);
  return classifyByStatus(answer, {
    account: creditCodes.has(code) ? "credit" : null,
    spent: quotaCodes.has(code),
    // Groq refuses so what alone is more than the account's tokens per minute.
    elsewhere: boundCodes.has(code) || (answer.status === 413 && code === "rate_limit_exceeded"),
    lacksModel: modelCodes.has(code) && !namesOtherModel(answer.body),
  });
}

/** The error's code, or its type where the vendor gives no code. */
export function openaiErrorCode(body: Uint8Array): string | null {
  const error = objectOf(refusalObject(body)["error"]);
  const { code } = error;
  return textOf(code) ?? (typeof code === "number" ? String(code) : null) ?? textOf(error["type"]);
}

/** 429 that does not pass by waiting: OpenAI, Moonshot, Zhipu, Ark. */
const quotaCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "1113",
  "SetLimitExceeded",
  "QuotaExceeded",
]);

/** An account in arrears, said with other statuses than 402: DashScope, Ark. */
const creditCodes: ReadonlySet<string> = new Set([
  "Arrearage",
  "AccountOverdueError",
  "OperationDenied.ServiceOverdue",
]);

/** The account does not have the model, or may not use it: OpenAI and its copies, Azure, Ark. */
const modelCodes: ReadonlySet<string> = new Set([
  "model_not_found",
  "DeploymentNotFound",
  "ModelNotOpen",
  "InvalidEndpointOrModel.NotFound",
]);

/** The refusal is about a model that the request itself names, as for one of its tools. */
function namesOtherModel(body: Uint8Array): boolean {
  const param = textOf(objectOf(refusalObject(body)["error"])["param"]);
  return param !== null && param !== "" && param !== "model";
}

/** What only the account that made it can read or find: another one of the same vendor may be the one. */
const boundCodes: ReadonlySet<string> = new Set(["invalid_encrypted_content", "previous_response_not_found"]);
