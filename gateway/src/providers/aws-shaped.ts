import type { Failure, Provider } from "#core/index.ts";
import { type AwsKeys, signAwsRequest, unusableCredential } from "#credentials/index.ts";
import { textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject } from "./classify-by-status.ts";
import type { AuthorizeOptions, BadAnswer, OutboundDraft } from "./kind.ts";
import { settingText } from "./settings.ts";

/** Signs a request for AWS, with short-lived keys or the stored ones. `now` is Unix milliseconds. */
export async function signAws(
  draft: OutboundDraft,
  service: string,
  { now, token = null }: Partial<AuthorizeOptions> & Pick<AuthorizeOptions, "now">,
): Promise<void> {
  const keys = token === null || typeof token === "string" ? storedKeys(draft.provider) : token;
  const region = settingText(draft.provider, "region");
  if (keys === null || region === null) throw unusableCredential("The provider has no AWS credentials or no region.");
  await signAwsRequest(draft, { service, region, keys, now });
}

export function storedKeys(provider: Provider): AwsKeys | null {
  const accessKeyId = settingText(provider, "access_key_id");
  const secretAccessKey = settingText(provider, "secret_access_key");
  const sessionToken = settingText(provider, "session_token");
  return accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey, sessionToken };
}

/** Refusals are `{"message"}` with a code in the header x-amzn-errortype. */
export function classifyAwsShaped(answer: BadAnswer): Failure {
  const refusal = refusalObject(answer.body);
  // "ThrottlingException:http://internal…" and "com.amazon.coral#ThrottlingException" are the same code.
  const named = answer.headers.get("x-amzn-errortype") ?? textOf(refusal["__type"]) ?? "";
  const code = (named.split(":")[0] ?? "").split("#").at(-1) ?? "";
  return classifyByStatus(answer, {
    account: answer.status === 403 || credentialCodes.has(code) ? "credential" : null,
    quotaExhausted: code === "ServiceQuotaExceededException",
    retryElsewhere: code === "ServiceQuotaExceededException" || code === "ModelErrorException",
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
