import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/**
 * A bucket for tests. It runs as a separate process, so that its objects do not count as the gateway's memory: `bun
 * bucket-server.ts` prints its port. It checks each signature (Signature Version 4) and each body against its hash, and
 * supports just the requests of a blob store. `/-/objects` lists the objects with their sizes, `/-/requests` lists the
 * requests since the last such call, `/-/fail/<status>/<n>` makes the next n requests fail, `/-/stall/<method>` leaves
 * the next request with that method without an answer.
 */
export const bucketKeys = { accessKeyId: "AKIDTEST", secretAccessKey: "bucket-canary-secret", region: "eu-test-1" };
export const bucketName = "blobs";

const objects = new Map<string, Uint8Array>();
let requests: string[] = [];
let failing = { status: 0, left: 0 };
let stalling = "";

if (import.meta.main) {
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 2 ** 30,
    fetch: answer,
  });
  console.log(server.port);
}

async function answer(request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname.startsWith("/-/")) return control(url.pathname.slice(3).split("/"));
  requests.push(`${request.method} ${url.pathname} ${request.headers.get("range") ?? ""}`.trim());
  if (stalling === request.method) {
    stalling = "";
    return new Promise(() => undefined);
  }
  const body = await request.bytes();
  if (failing.left > 0) {
    failing.left -= 1;
    return errorResponse(failing.status, "SlowDown");
  }
  const wrong = signatureFault(request, url, body);
  if (wrong !== null) return errorResponse(403, wrong);
  const key = keyOf(request, url);
  if (key === null) return errorResponse(404, "NoSuchBucket");
  switch (request.method) {
    case "PUT":
      objects.set(key, body);
      return new Response(null);
    case "DELETE":
      objects.delete(key);
      return new Response(null, { status: 204 });
    case "GET":
      return get(key, request.headers.get("range"));
    default:
      return errorResponse(405, "MethodNotAllowed");
  }
}

function control([command, first = "", count]: readonly string[]): Response {
  if (command === "objects") return Response.json([...objects].map(([key, bytes]) => ({ key, size: bytes.length })));
  if (command === "requests") {
    const recorded = requests;
    requests = [];
    return Response.json(recorded);
  }
  if (command === "fail") failing = { status: Number(first), left: Number(count) };
  if (command === "stall") stalling = first;
  return new Response(null);
}

/** The bucket's name comes first in the host or in the path. */
function keyOf(request: Request, url: URL): string | null {
  const path = decodeURIComponent(url.pathname.slice(1));
  if (request.headers.get("host")?.startsWith(`${bucketName}.`)) return path;
  return path.startsWith(`${bucketName}/`) ? path.slice(bucketName.length + 1) : null;
}

function get(key: string, range: string | null): Response {
  const bytes = objects.get(key);
  if (bytes === undefined) return errorResponse(404, "NoSuchKey");
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  if (from === undefined || to === undefined) return new Response(bytes);
  if (Number(from) >= bytes.length) {
    return errorResponse(416, "InvalidRange", { "content-range": `bytes */${bytes.length}` });
  }
  const end = Math.min(Number(to) + 1, bytes.length);
  const headers = { "content-range": `bytes ${from}-${end - 1}/${bytes.length}` };
  return new Response(bytes.subarray(Number(from), end), { status: 206, headers });
}

function errorResponse(status: number, code: string, headers: Record<string, string> = {}): Response {
  return new Response(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`, {
    status,
    headers,
  });
}

/** A bucket encodes the object's name, in whatever form it was sent: everything except unreserved characters. */
function canonicalPath({ pathname }: URL): string {
  const octets = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  const encoded = (part: string): string => encodeURIComponent(decodeURIComponent(part)).replaceAll(/[!'()*]/g, octets);
  return pathname.split("/").map(encoded).join("/");
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/**
 * Computes the signature from the request:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
function signatureFault(request: Request, url: URL, body: Uint8Array): string | null {
  const [, id, day, region, names, signature] = authorization.exec(request.headers.get("authorization") ?? "") ?? [];
  if (day === undefined || names === undefined || signature === undefined) return "AccessDenied";
  const date = request.headers.get("x-amz-date") ?? "";
  const bodyHash = request.headers.get("x-amz-content-sha256") ?? "";
  if (id !== bucketKeys.accessKeyId) return "InvalidAccessKeyId";
  if (region !== bucketKeys.region || !date.startsWith(day)) return "AuthorizationHeaderMalformed";
  if (!["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.split(";").includes(name)))
    return "AccessDenied";
  if (createHash("sha256").update(body).digest("hex") !== bodyHash) return "XAmzContentSHA256Mismatch";
  const headers = names.split(";").map((name) => `${name}:${(request.headers.get(name) ?? "").trim()}\n`);
  const canonical = [request.method, canonicalPath(url), url.search.slice(1), headers.join(""), names, bodyHash].join(
    "\n",
  );
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const hmac = (key: string | Uint8Array, value: string) => createHmac("sha256", key).update(value).digest();
  const signing = [day, region, "s3", "aws4_request"].reduce<string | Uint8Array>(
    (key, part) => hmac(key, part),
    `AWS4${bucketKeys.secretAccessKey}`,
  );
  return timingSafeEqual(hmac(signing, text), Buffer.from(signature, "hex")) ? null : "SignatureDoesNotMatch";
}
