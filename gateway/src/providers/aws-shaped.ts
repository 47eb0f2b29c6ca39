import { createHash } from "node:crypto";
import { bounds, type Failure } from "#core/index.ts";
import { textOf } from "#protocols/index.ts";
import { classifyByStatus, refusalObject, unusableCredential } from "./classify-by-status.ts";
import type { BadAnswer, OutboundDraft } from "./kind.ts";
import { settingText } from "./settings.ts";

/**
 * Signs a request for AWS (Signature Version 4). `now` is Unix milliseconds. Signs only the headers that the gateway
 * controls: host, content type and Amazon's own.
 */
export async function signAws(draft: OutboundDraft, service: string, now: number): Promise<void> {
  const { provider, headers } = draft;
  const accessKeyId = settingText(provider, "access_key_id");
  const secretAccessKey = settingText(provider, "secret_access_key");
  const region = settingText(provider, "region");
  if (accessKeyId === null || secretAccessKey === null || region === null) {
    throw unusableCredential("The provider has no AWS credentials or no region.");
  }
  // Loaded on first use to keep startup fast.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const sessionToken = settingText(provider, "session_token");
  const signer = new SignatureV4({
    service,
    region,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
  });
  const url = new URL(draft.url);
  const digest = await bodyDigest(draft.body);
  const signed = await signer.sign(
    {
      method: draft.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: { ...signable(headers), host: url.host, "x-amz-content-sha256": digest },
    },
    { signingDate: new Date(now) },
  );
  for (const name of ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"]) {
    const value = signed.headers[name];
    if (value !== undefined) headers[name] = value;
  }
}

/** Repeated names are signed with all their values. */
function queryOf({ searchParams }: URL): Record<string, string | string[]> {
  const names = [...new Set(searchParams.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}

/** The transport may add other headers, which are not signed. */
function signable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === "content-type" || name.startsWith("x-amzn-bedrock-")),
  );
}

/** The native hash is a hundred times faster than the signer's. Yields to other work after each megabyte. */
async function bodyDigest(body: Uint8Array | null): Promise<string> {
  const hash = createHash("sha256");
  const size = body?.length ?? 0;
  for (let at = 0; at < size; at += bounds.bodyTurnBytes) {
    if (at > 0) await new Promise(setImmediate);
    hash.update(body?.subarray(at, at + bounds.bodyTurnBytes) ?? "");
  }
  return hash.digest("hex");
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
