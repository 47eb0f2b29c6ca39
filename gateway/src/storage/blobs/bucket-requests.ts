import { bounds, Failure, type HeaderReader, sleep, streamOfBytes } from "#core/index.ts";
import type { AnswerBody, Clock, OutboundRequest, OutboundStream, Transport } from "#ports/index.ts";
import { storageUnavailable } from "../disk/files.ts";

export const bucketTriesMax = 3;
const bucketUploadMs = 1_800_000;

export interface Bucket {
  /** `https://s3.eu-central-1.amazonaws.com`; a path in it is kept. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** With temporary credentials. */
  readonly sessionToken?: string;
  /** The bucket's name in front of the host (some vendors take no other form) instead of in the path. */
  readonly inHost?: boolean;
  /** A bucket in one's own network. */
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
 * Requests to an S3-compatible bucket, signed (Signature Version 4) and sent through the one way out. The runtime has a
 * client for buckets, but that one has no signal and no clocks, holds parts of 5 MiB, takes session tokens out of the
 * environment, and does not sign what it sends.
 *
 * Every request here may be repeated without harm, so silence and a bucket that is busy are tried again. Resolves with
 * 2xx, 404 and 416; throws Failure storage_unavailable for a bucket that is silent or busy, and internal_error for the rest,
 * the bucket's own code in its cause.
 */
export function bucketSend(bucket: Bucket, transport: Transport, clock: Clock): BucketSend {
  return async (request, signal) => {
    for (let tries = 1; ; tries++) {
      const headers = await signedHeaders(bucket, request, clock.now());
      const outcome = await attempt(transport, outbound(bucket, request, headers), signal);
      if (!(outcome instanceof Error)) return outcome;
      if (tries >= bucketTriesMax || !outcome.again) throw failure(outcome);
      await sleep(clock, bounds.backoffMsMin * 2 ** tries, signal);
    }
  };
}

/** What went wrong, and whether it may go better another time. */
class BucketFault extends Error {
  override readonly name = "BucketTrouble";
  readonly again: boolean;

  constructor(message: string, again: boolean, cause?: unknown) {
    super(message, { cause });
    this.again = again;
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

/** What may go better another time is said to be so; what an operator must mend (a wrong secret, no such bucket) is ours. */
function failure(accountFault: BucketFault): Failure {
  if (accountFault.again) return storageUnavailable(accountFault);
  return new Failure("internal_error", "The place where files are kept does not answer as it should.", {
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

/** As Signature Version 4 has a part of a path: a bucket signs the encoded form of `=`, `+` and the like, however they came. */
function encoded(part: string): string {
  const octets = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(part).replace(/[!'()*]/g, octets);
}

async function signedHeaders(bucket: Bucket, request: BucketRequest, now: number): Promise<Record<string, string>> {
  const url = urlOf(bucket, request.key);
  // Loaded with the first request to a bucket: most installations have none.
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import("@smithy/signature-v4"),
    import("@aws-crypto/sha256-js"),
  ]);
  const { accessKeyId, secretAccessKey, sessionToken, region } = bucket;
  const signer = new SignatureV4({
    service: "s3",
    region,
    sha256: Sha256,
    // A bucket's path is signed as it is sent, unlike that of every other service.
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

/** The bucket's own word, such as `AccessDenied`; empty when it says none. */
async function errorCode(body: AnswerBody): Promise<string> {
  try {
    const bytes = await body.readAll(bounds.errorBodyBytesMax, "idle", bounds.bucketSilenceMs);
    return /<Code>(\w{1,64})<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1] ?? "";
  } catch {
    return "";
  }
}

interface BucketObjectsOptions extends Bucket {
  /** In front of every name; may be empty. */
  readonly prefix: string;
  readonly transport: Transport;
  readonly clock: Clock;
}

export type ObjectStore = ReturnType<typeof createBucketObjects>;

/**
 * Objects in an S3-compatible bucket under names of their own. One is whole or not there: the bucket checks it against its digest.
 * The same name again replaces what was there.
 */
export function createBucketObjects(options: BucketObjectsOptions) {
  const send = bucketSend(options, options.transport, options.clock);
  return {
    async put(name: string, bytes: Uint8Array, sha256: string, signal: AbortSignal): Promise<void> {
      const stream = { size: bytes.length, open: () => streamOfBytes(bytes, bounds.sendPieceBytes) };
      const answer = await send({ method: "PUT", key: options.prefix + name, body: { stream, sha256 } }, signal);
      answer.body.cancel();
      if (answer.status >= 300) {
        throw new Failure("internal_error", "The place where the ledger is copied to does not answer as it should.", {
          cause: new Error(`the bucket answered ${answer.status}`),
        });
      }
    },
  };
}
