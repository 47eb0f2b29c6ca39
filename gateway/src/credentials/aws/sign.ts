import { createHash } from "node:crypto";
import { bounds } from "#core/index.ts";
import type { AwsKeys } from "../issued.ts";

export interface SignableRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | null;
}

interface SignOptions {
  readonly service: string;
  readonly region: string;
  readonly keys: AwsKeys;
  /** Unix milliseconds. */
  readonly now: number;
  /** Default: the body's digest is a header. */
  readonly sendsDigest?: boolean;
}

/**
 * Signs a request for AWS (Signature Version 4). Signs only the headers that the gateway controls: host, content type and
 * Amazon's own.
 */
export async function signAwsRequest(
  request: SignableRequest,
  { service, region, keys, now, sendsDigest = true }: SignOptions,
): Promise<void> {
  // Loaded on first use to keep startup fast.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new SignatureV4({
    service,
    region,
    sha256: Sha256,
    applyChecksum: sendsDigest,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
  });
  const url = new URL(request.url);
  const digest = await bodyDigest(request.body);
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: queryOf(url),
      headers: {
        ...signable(request.headers),
        host: url.host,
        ...(sendsDigest ? { "x-amz-content-sha256": digest } : {}),
      },
    },
    { signingDate: new Date(now) },
  );
  for (const name of ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"]) {
    const value = signed.headers[name];
    if (value !== undefined) request.headers[name] = value;
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
    Object.entries(headers).filter(([name]) => signedNames.has(name) || name.startsWith("x-amzn-bedrock-")),
  );
}

const signedNames: ReadonlySet<string> = new Set(["content-type", "x-amz-target", "x-goog-cloud-target-resource"]);

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
