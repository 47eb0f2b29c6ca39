import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { bounds, Failure, Secret, sleep } from "#core/index.ts";
import type { Clock, OtlpSignal, OutboundAnswer, OutboundNetwork, OutboundRequest, Transport } from "#ports/index.ts";
import { type OtlpKind, rejectedIn, requestAsJson } from "./otlp-json.ts";
import { RequestBytes } from "./request-bytes.ts";

export interface CollectorNetwork {
  readonly transport: Transport;
  readonly clock: Pick<Clock, "monotonic" | "after">;
}

interface SendResult {
  /** null if the collector accepted it. */
  readonly problem: string | null;
  /** With a problem: it was sent and not answered, so the collector may have accepted it. */
  readonly mayBeAccepted: boolean;
  /** Body of the collector's answer. */
  readonly answer: Uint8Array;
}

interface TryResult {
  readonly result: SendResult;
  /** Pause before the next try; 0 for the usual backoff, null for no further try. */
  readonly retryAfterMs: number | null;
}

const empty = new Uint8Array(0);

/** Sends a body, in the signal's own protocol by default. Never rejects. */
export type SendToCollector = (body: Uint8Array, protocol?: OtlpSignal["protocol"]) => Promise<SendResult>;

/**
 * Sends exports of one signal to its collector (OTLP over HTTP, "OTLP/HTTP Response"). Retries with backoff after 429, 502, 503, 504
 * and failed connections, within the signal's timeout. Throws when a certificate cannot be read.
 */
export async function openCollector(
  signal: OtlpSignal,
  { transport, clock }: CollectorNetwork,
): Promise<SendToCollector> {
  const network = await certificatesOf(signal);
  const configuredHeaders = headersOf(signal);
  const never = new AbortController().signal;
  const tryOnce = async (body: Uint8Array, headers: Record<string, string>, endMs: number): Promise<TryResult> => {
    const restMs = Math.max(1, endMs - clock.monotonic());
    const clocks = { connectMs: restMs, headersMs: restMs, totalMs: restMs };
    const request = { method: "POST", url: signal.url, headers, body, ...clocks, allowPrivateNetwork: true, network };
    try {
      const answer = await transport.send(request as OutboundRequest, never);
      return resultOf(answer, await answer.body.readAll(bounds.collectorAnswerBytesMax, "total", restMs));
    } catch (thrown) {
      // Data that may have arrived is not sent again, because sums would count it twice.
      const mayBeAccepted = !(thrown instanceof Failure) || thrown.arrival !== "unsent";
      const problem = problemOf(thrown).slice(0, bounds.collectorWordsMax);
      return { result: { problem, mayBeAccepted, answer: empty }, retryAfterMs: mayBeAccepted ? null : 0 };
    }
  };
  return async (body, protocol = signal.protocol) => {
    const endMs = clock.monotonic() + signal.timeoutMs;
    const isCompressed = signal.compression === "gzip";
    const sent = isCompressed ? await gzipAsync(body) : body;
    const headers = {
      ...configuredHeaders,
      "user-agent": "sluice",
      "content-type": protocol === "http/json" ? "application/json" : "application/x-protobuf",
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
    };
    for (let tries = 1, pauseMs: number = bounds.otlpPauseMs; ; tries++) {
      const { result, retryAfterMs } = await tryOnce(sent, headers, endMs);
      if (result.problem === null || retryAfterMs === null || tries >= bounds.otlpTriesMax) return result;
      const waitMs = retryAfterMs === 0 ? pauseMs : retryAfterMs;
      if (clock.monotonic() + waitMs >= endMs) return result;
      pauseMs = Math.min(pauseMs * 1.5, bounds.otlpPauseMsMax);
      await sleep(clock, waitMs, null);
    }
  };
}

const retriedStatuses = new Set([429, 502, 503, 504]);

/** The problem does not quote the collector, whose answer may repeat what was sent. */
function resultOf({ status, headers }: OutboundAnswer, answer: Uint8Array): TryResult {
  if (status >= 200 && status < 300) {
    return { result: { problem: null, mayBeAccepted: false, answer }, retryAfterMs: null };
  }
  const isRetried = retriedStatuses.has(status);
  const problem = isRetried ? `it answered ${status} (busy or unavailable)` : `it answered ${status}`;
  const seconds = Number(headers.get("retry-after") ?? 0);
  const afterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
  return { result: { problem, mayBeAccepted: false, answer: empty }, retryAfterMs: isRetried ? afterMs : null };
}

/** Example: `it could not be reached. (ECONNREFUSED)` */
function problemOf(thrown: unknown): string {
  if (!(thrown instanceof Failure)) return String(thrown);
  const code = thrown.cause instanceof Error && "code" in thrown.cause ? ` (${String(thrown.cause.code)})` : "";
  return thrown.message.replace("The upstream", "it") + code;
}

const gzipAsync = promisify(gzip) as (body: Uint8Array) => Promise<Uint8Array>;

function headersOf({ headers }: Pick<OtlpSignal, "headers">): Record<string, string> {
  const out: Record<string, string> = {};
  for (const part of (headers?.reveal() ?? "").split(",")) {
    const at = part.indexOf("=");
    if (at > 0) out[decodeURIComponent(part.slice(0, at).trim())] = decodeURIComponent(part.slice(at + 1).trim());
  }
  return out;
}

/** undefined for the defaults of this process. */
async function certificatesOf(signal: OtlpSignal): Promise<OutboundNetwork | undefined> {
  const { certificateFile, clientCertificateFile, clientKeyFile } = signal;
  if (certificateFile === null && clientCertificateFile === null) return undefined;
  const authority = certificateFile === null ? null : await readFile(certificateFile, "utf8");
  const certificate = clientCertificateFile === null ? null : await readFile(clientCertificateFile, "utf8");
  // One file may hold both the certificate and its key.
  const key = certificate === null ? null : await readFile(clientKeyFile ?? clientCertificateFile ?? "", "utf8");
  const id = createHash("sha256")
    .update(JSON.stringify([authority, certificate, key]))
    .digest("base64url");
  return {
    id: `collector ${id}`,
    ...(authority === null ? {} : { authorities: [authority] }),
    ...(certificate === null || key === null ? {} : { client: { certificate, key: new Secret(key) } }),
  };
}

/** Returns a function that sends an export request given as protobuf and never rejects. Throws when a certificate cannot be read. */
export async function openExport(signal: OtlpSignal, kind: OtlpKind, network: CollectorNetwork) {
  const send = await openCollector(signal, network);
  const isJson = signal.protocol === "http/json";
  return async (request: Uint8Array) => {
    const { problem, mayBeAccepted, answer } = await send(isJson ? requestAsJson(request, kind) : request);
    const rejected = problem === null && answer.length > 0 ? rejectedIn(answer, isJson) : 0;
    return { problem, mayBeAccepted, rejected };
  };
}

export type Export = Awaited<ReturnType<typeof openExport>>;

/** Sends an empty export, which checks address, credentials and path. Returns the problem, or null if the collector accepts it. */
export async function probeCollector(
  signal: OtlpSignal,
  kind: OtlpKind,
  network: CollectorNetwork,
): Promise<string | null> {
  const send = await openExport(signal, kind, network);
  return (await send(new RequestBytes({ attributes: {}, scope: { name: "sluice" } }).take(0))).problem;
}
