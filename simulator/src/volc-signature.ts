import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalQuery } from "./canonical-query.ts";
import type { SimulatorRequest } from "./request.ts";

/** Why a request's Volcengine signature is invalid; null if it is valid. */
export type VolcFault = "absent" | "malformed" | "unknown key" | "expired" | "mismatch" | null;

export interface VolcCheck {
  readonly fault: VolcFault;
  /** Empty if the header could not be parsed. */
  readonly accessKeyId: string;
  readonly region: string;
}

/**
 * Checks a Volcengine signature (HMAC-SHA256, the Authorization header) over the headers that the caller chose to sign.
 * `secretOf` returns null for an unknown key. `now` is in Unix milliseconds; a signature is valid for fifteen minutes
 * around its date, the longest that the vendor may allow.
 */
export function checkVolcSignature(
  request: SimulatorRequest,
  secretOf: (accessKeyId: string) => string | null,
  now: number,
): VolcCheck {
  const { headers } = request;
  const read = readAuthorization(headers["authorization"]);
  if (read === null) {
    const absent = headers["authorization"] === undefined;
    return { fault: absent ? "absent" : "malformed", accessKeyId: "", region: "" };
  }
  const { accessKeyId, region, day, names } = read;
  const withFault = (fault: VolcFault): VolcCheck => ({ fault, accessKeyId, region });
  const date = headers["x-date"] ?? "";
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (Number.isNaN(at) || !date.startsWith(day) || !names.includes("host") || !names.includes("x-date")) {
    return withFault("malformed");
  }
  const secret = secretOf(accessKeyId);
  if (secret === null) return withFault("unknown key");
  if (Math.abs(now - at) > 15 * 60_000) return withFault("expired");
  const payload = sha256(request.body);
  if ((headers["x-content-sha256"] ?? payload) !== payload) return withFault("mismatch");
  const expected = Buffer.from(signatureOf({ request, read, date, payload, secret }));
  const actual = Buffer.from(read.signature);
  return withFault(expected.length === actual.length && timingSafeEqual(expected, actual) ? null : "mismatch");
}

interface Authorization {
  readonly accessKeyId: string;
  readonly day: string;
  readonly region: string;
  readonly service: string;
  readonly names: readonly string[];
  readonly signature: string;
}

function readAuthorization(header: string | undefined): Authorization | null {
  const found =
    /^HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8})\/([^/,]+)\/([^/,]+)\/request,\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
      header ?? "",
    );
  if (found === null) return null;
  const [, accessKeyId = "", day = "", region = "", service = "", names = "", signature = ""] = found;
  return { accessKeyId, day, region, service, names: names.split(";"), signature };
}

interface Signing {
  readonly request: SimulatorRequest;
  readonly read: Authorization;
  readonly date: string;
  readonly payload: string;
  readonly secret: string;
}

function signatureOf({ request, read, date, payload, secret }: Signing): string {
  const { day, region, service, names } = read;
  const lines = names.map((name) => `${name}:${(request.headers[name] ?? "").trim()}\n`).join("");
  const path = request.path === "" ? "/" : request.path;
  const parts = [request.method, path, canonicalQuery(request.query), lines, names.join(";"), payload];
  const scope = `${day}/${region}/${service}/request`;
  const toSign = ["HMAC-SHA256", date, scope, sha256(parts.join("\n"))].join("\n");
  let key: Uint8Array = Buffer.from(secret);
  for (const part of [day, region, service, "request"]) key = hmac(key, part);
  return Buffer.from(hmac(key, toSign)).toString("hex");
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}
