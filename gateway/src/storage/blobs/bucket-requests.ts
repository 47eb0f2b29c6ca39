import { bounds, Failure, type HeaderReader, sleep, streamOfBytes } from "#core/index.ts";
import type { AnswerBody, Clock, OutboundRequest, OutboundStream, Transport } from "#ports/index.ts";
import { storageUnavailable } from "../disk/files.ts";

export const bucketTriesMax = 3;
const bucketUploadMs = 1_800_000;

export interface Bucket {
  /** `https://s3.eu-central-1.amazonaws.com`, possibly with a path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string;
  /** Use `bucket.host` instead of `host/bucket`; some vendors require it. */
  readonly inHost?: boolean;
  /** Allow a bucket in a private network. */
  readonly allowPrivateNetwork?: boolean;
}

interface BucketRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key: string;
  readonly range?: string;
  readonly body?: { readonly stream: OutboundStream; readonly sha256: string };
}

export interface BucketAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: AnswerBody;
}

export type BucketSend = (request: BucketRequest, signal: AbortSignal) => Promise<BucketAnswer>;

/**
 * Sends signed requests (Signature Version 4) to an S3-compatible bucket. The runtime's own client has no signal or timeouts, buffers 5
 * MiB parts, reads session tokens from the environment, and does not sign bodies.
 * All requests are idempotent, so timeouts and busy answers are retried. Resolves with 2xx, 404 and 416; throws Failure
 * storage_unavailable for a silent or busy bucket, internal_error otherwise, with the bucket's code in its cause.
 */
export function bucketSend(bucket: Bucket, transport: Transport, clock: Clock): BucketSend {
  return async (request, signal) => {
    for (let tries = 1; ; tries++) {
      const headers = await signedHeaders(bucket, request, clock.now());
      const outcome = await attempt(transport, outbound(bucket, request, headers), signal);
      if (!(outcome instanceof Error)) return outcome;
      if (tries >= bucketTriesMax || !outcome.isTemporary) throw failure(outcome);
      await sleep(clock, bounds.backoffMsMin * 2 ** tries, signal);
    }
  };
}

/** `again`: a retry may succeed. */
class BucketFault extends Error {
  override readonly name = "BucketTrouble";
  readonly isTemporary: boolean;

  constructor(message: string, again: boolean, cause?: unknown) {
    super(message, { cause });
    this.isTemporary = again;
  }
}

async function attempt(
  transport: Transport,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<BucketAnswer | BucketFault> {
  try {
    const answer = await transport.send(request, signal);
    if (answer.status >= 200 && answer.status < 300) return answer;
    const code = await errorCode(answer.body);
    if (answer.status === 416 || (answer.status === 404 && code !== "NoSuchBucket")) return answer;
    const busy = answer.status === 429 || answer.status >= 500;
    return new BucketFault(`the bucket answered ${answer.status} ${code}`, busy);
  } catch (thrown) {
    const ours = !(thrown instanceof Failure) || thrown.code === "internal_error" || signal.aborted;
    if (ours) throw thrown;
    return new BucketFault(`the bucket did not answer: ${thrown.message}`, true, thrown);
  }
}

function outbound(bucket: Bucket, request: BucketRequest, headers: Record<string, string>): OutboundRequest {
  const stream = request.body?.stream ?? null;
  return {
    method: request.method,
    url: urlOf(bucket, request.key).href,
    headers,
    body: stream?.size === 0 ? new Uint8Array(0) : stream,
    connectMs: bounds.bucketSilenceMs,
    headersMs: bounds.bucketSilenceMs,
    totalMs: stream === null ? bounds.bucketSilenceMs * 2 : bucketUploadMs,
    allowPrivateNetwork: bucket.allowPrivateNetwork ?? false,
  };
}

/** Temporary problems are reported as such; configuration errors (wrong secret, no such bucket) as internal. */
function failure(accountFault: BucketFault): Failure {
  if (accountFault.isTemporary) return storageUnavailable(accountFault);
  return new Failure("internal_error", "File storage returned an unexpected answer.", {
    cause: accountFault,
  });
}

function urlOf(bucket: Bucket, key: string): URL {
  const url = new URL(bucket.endpoint);
  const path = [...url.pathname.split("/"), ...(bucket.inHost ? [] : [bucket.bucket]), ...key.split("/").map(encoded)];
  if (bucket.inHost) url.host = `${bucket.bucket}.${url.host}`;
  url.pathname = `/${path.filter((part) => part !== "").join("/")}`;
  return url;
}

/** Percent-encodes a path segment as Signature Version 4 requires. */
function encoded(part: string): string {
  const octets = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(part).replace(/[!'()*]/g, octets);
}

async function signedHeaders(bucket: Bucket, request: BucketRequest, now: number): Promise<Record<string, string>> {
  const url = urlOf(bucket, request.key);
  // Loaded on demand.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const { accessKeyId, secretAccessKey, sessionToken, region } = bucket;
  const signer = new SignatureV4({
    service: "s3",
    region,
    sha256: Sha256,
    // S3 signs the path as sent, unlike other services.
    uriEscapePath: false,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  });
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: {
        host: url.host,
        "x-amz-content-sha256": request.body?.sha256 ?? emptySha256,
        ...(request.range === undefined ? {} : { range: request.range }),
        ...(request.body === undefined ? {} : { "content-type": "application/octet-stream" }),
      },
    },
    { signingDate: new Date(now) },
  );
  const { host: _, ...headers } = signed.headers;
  return headers;
}

const emptySha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** The bucket's error code, such as `AccessDenied`; empty: none. */
async function errorCode(body: AnswerBody): Promise<string> {
  try {
    const bytes = await body.readAll(bounds.errorBodyBytesMax, "idle", bounds.bucketSilenceMs);
    return /<Code>(\w{1,64})<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1] ?? "";
  } catch {
    return "";
  }
}

interface BucketObjectsOptions extends Bucket {
  /** May be empty. */
  readonly prefix: string;
  readonly transport: Transport;
  readonly clock: Clock;
}

export type ObjectStore = ReturnType<typeof createBucketObjects>;

/** Named objects in an S3-compatible bucket, verified by digest, so complete or absent. Writing a name again replaces the object. */
export function createBucketObjects(options: BucketObjectsOptions) {
  const send = bucketSend(options, options.transport, options.clock);
  return {
    async put(name: string, bytes: Uint8Array, sha256: string, signal: AbortSignal): Promise<void> {
      const stream = { size: bytes.length, open: () => streamOfBytes(bytes, bounds.sendPieceBytes) };
      const answer = await send({ method: "PUT", key: options.prefix + name, body: { stream, sha256 } }, signal);
      answer.body.cancel();
      if (answer.status >= 300) {
        throw new Failure("internal_error", "The bucket for ledger exports returned an unexpected answer.", {
          cause: new Error(`the bucket answered ${answer.status}`),
        });
      }
    },
  };
}
