import { createHash, createHmac } from "node:crypto";

export interface VolcengineKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly service: string;
}

export interface SignableRequest {
  readonly method: string;
  readonly url: string;
  /** What is signed beside the host, the date and the body's digest; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * The headers that sign a request to Volcengine's or BytePlus' control plane: HMAC-SHA256 as in `base/sign.go` of the
 * vendor's Go SDK. The server verifies exactly the headers that the signature names. `now` is Unix milliseconds.
 */
export function volcengineSignature(
  { method, url, headers, body }: SignableRequest,
  keys: VolcengineKeys,
  now: number,
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(url);
  const at = new Date(now).toISOString().replace(/\.\d+|[:-]/g, "");
  const digest = sha256(body);
  const told = { "x-content-sha256": digest, "x-date": at };
  const signed = Object.entries({ ...headers, ...told, host }).sort(byName);
  const names = signed.map(([name]) => name).join(";");
  const lines = signed.map(([name, value]) => `${name}:${value.trim()}\n`).join("");
  const canonical = [method, pathname, canonicalQuery(searchParams), lines, names, digest].join("\n");
  const day = at.slice(0, 8);
  const scope = `${day}/${keys.region}/${keys.service}/request`;
  const text = ["HMAC-SHA256", at, scope, sha256(canonical)].join("\n");
  const key = [day, keys.region, keys.service, "request"].reduce<string | Buffer>(hmac, keys.secretAccessKey);
  const signature = hmac(key, text).toString("hex");
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return { ...told, authorization: `HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}` };
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]): [string, string] => [percent(name), percent(value)])
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

/** RFC 3986: what encodeURIComponent leaves of the reserved characters is encoded too. */
function percent(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** By code units, as every server sorts; equal names by value. */
function byName([a, first]: readonly [string, string], [b, second]: readonly [string, string]): number {
  if (a !== b) return a < b ? -1 : 1;
  return first < second ? -1 : first > second ? 1 : 0;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
