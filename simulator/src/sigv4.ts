import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalQuery, percentEncode } from "./canonical-query.ts";
import type { SimulatorRequest } from "./request.ts";

/** Why a request's AWS signature is invalid; null if it is valid. */
export type SignatureFault = "absent" | "malformed" | "expired" | "mismatch" | null;

/**
 * Checks an AWS Signature Version 4 in the Authorization header, for any service except S3: the path is encoded once
 * more than it was sent. `now` is in Unix milliseconds; a signature is valid for fifteen minutes around its date.
 */
export function checkSignature(
  request: SimulatorRequest,
  secret: string,
  now: number,
  expectedService = "bedrock",
): SignatureFault {
  const authorization = request.headers["authorization"] ?? "";
  if (!authorization.startsWith("AWS4-HMAC-SHA256")) return "absent";
  const found =
    /^AWS4-HMAC-SHA256 Credential=[^/,\s]+\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request,\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  if (found === null) return "malformed";
  const [, day = "", region = "", service = "", signedHeaders = "", signature = ""] = found;
  const date = request.headers["x-amz-date"] ?? "";
  const names = signedHeaders.split(";");
  if (service !== expectedService || !names.includes("host") || !date.startsWith(day)) return "malformed";
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (Number.isNaN(at)) return "malformed";
  if (Math.abs(now - at) > 15 * 60_000) return "expired";
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", date, scope, sha256(canonicalRequest(request, names))].join("\n");
  let key = Buffer.from(`AWS4${secret}`);
  for (const part of [day, region, service, "aws4_request"]) key = hmac(key, part);
  const expected = hmac(key, toSign);
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) ? null : "mismatch";
}

function canonicalRequest(request: SimulatorRequest, names: readonly string[]): string {
  const lines = names.map((name) => `${name}:${(request.headers[name] ?? "").trim().replace(/\s+/g, " ")}\n`);
  const path = request.path.split("/").map(percentEncode).join("/");
  const payload = sha256(request.body);
  return [request.method, path, canonicalQuery(request.query), lines.join(""), names.join(";"), payload].join("\n");
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: Uint8Array, text: string): Buffer<ArrayBuffer> {
  return Buffer.from(createHmac("sha256", key).update(text).digest());
}
