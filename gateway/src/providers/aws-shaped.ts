import type { Failure } from "#core/index.ts";
import { textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { BadAnswer } from "./kind.ts";

/** A bad answer that is `{"message"}` with its code in the header x-amzn-errortype. */
export function classifyAwsShaped(answer: BadAnswer): Failure {
  const refusal = refusalObject(answer.body);
  // "ThrottlingException:http://internal…" and "com.amazon.coral#ThrottlingException" are the same code.
  const named = answer.headers.get("x-amzn-errortype") ?? textOf(refusal["__type"]) ?? "";
  const code = (named.split(":")[0] ?? "").split("#").at(-1) ?? "";
  return classifyByStatus(answer, {
    account: answer.status === 403 || credentialCodes.has(code) ? "credential" : null,
    spent: code === "ServiceQuotaExceededException",
    elsewhere: code === "ServiceQuotaExceededException" || code === "ModelErrorException",
  });
}

const credentialCodes: ReadonlySet<string> = new Set([
  "AccessDeniedException",
  "UnrecognizedClientException",
  "InvalidSignatureException",
  "ExpiredTokenException",
  "ExpiredToken",
  "MissingAuthenticationTokenException",
  "IncompleteSignatureException",
  "OptInRequired",
]);
