import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { bounds, Failure, Secret, sleep } from "#core/index.ts";
import type { Clock, OtlpSignal, OutboundAnswer, OutboundNetwork, OutboundRequest, Transport } from "#ports/index.ts";
import { type OtlpKind, rejectedIn, requestAsJson } from "./otlp-json.ts";
import { RequestBytes } from "./request-bytes.ts";

/** How telemetry leaves: as every other request of this process does, with its proxy and its certificate authorities. */
export interface CollectorNetwork {
  readonly transport: Transport;
  readonly clock: Pick<Clock, "monotonic" | "after">;
}

/** `problem` null: it was taken, and `answer` is what the collector said. */
interface Told {
  readonly problem: string | null;
  /** With a problem: it was sent and not answered, so that it may have been taken all the same. */
  readonly mayBeTaken: boolean;
  readonly answer: Uint8Array;
}

interface Once {
  readonly told: Told;
  /** When to try again; 0: whenever; null: never. */
  readonly afterMs: number | null;
}

const nothing = new Uint8Array(0);

/** Sends a body, in the signal's own protocol unless another one is named. Never rejects. */
export type SendToCollector = (body: Uint8Array, protocol?: OtlpSignal["protocol"]) => Promise<Told>;

/**
 * Sends exports of one signal to its collector (OTLP over HTTP, "OTLP/HTTP Response"): again after 429, 502, 503 and 504 and where nobody
 * answered, later each time or as the collector says, within the signal's time-out. Throws when a certificate cannot be read: what was
 * to be checked must not be sent unchecked.
 */
export async function openCollector(
  signal: OtlpSignal,
  { transport, clock }: CollectorNetwork,
): Promise<SendToCollector> {
  const network = await certificatesOf(signal);
  const own = headersOf(signal);
  const never = new AbortController().signal;
  const once = async (body: Uint8Array, headers: Record<string, string>, endMs: number): Promise<Once> => {
    const restMs = Math.max(1, endMs - clock.monotonic());
    const clocks = { connectMs: restMs, headersMs: restMs, totalMs: restMs };
    const request = { method: "POST", url: signal.url, headers, body, ...clocks, allowPrivateNetwork: true, network };
    try {
      const answer = await transport.send(request as OutboundRequest, never);
      return answered(answer, await answer.body.readAll(bounds.collectorAnswerBytesMax, "total", restMs));
    } catch (thrown) {
      // What may have arrived is not sent twice: sums would count it twice.
      const mayBeTaken = !(thrown instanceof Failure) || thrown.arrival !== "unsent";
      const problem = problemOf(thrown).slice(0, bounds.collectorWordsMax);
      return { told: { problem, mayBeTaken, answer: nothing }, afterMs: mayBeTaken ? null : 0 };
    }
  };
  return async (body, protocol = signal.protocol) => {
    const endMs = clock.monotonic() + signal.timeoutMs;
    const packs = signal.compression === "gzip";
    const sent = packs ? await gzipped(body) : body;
    const headers = {
      ...own,
      "user-agent": "sluice",
      "content-type": protocol === "http/json" ? "application/json" : "application/x-protobuf",
      ...(packs ? { "content-encoding": "gzip" } : {}),
    };
    for (let tries = 1, pauseMs: number = bounds.otlpPauseMs; ; tries++) {
      const { told, afterMs } = await once(sent, headers, endMs);
      if (told.problem === null || afterMs === null || tries >= bounds.otlpTriesMax) return told;
      const waitMs = afterMs === 0 ? pauseMs : afterMs;
      if (clock.monotonic() + waitMs >= endMs) return told;
      pauseMs = Math.min(pauseMs * 1.5, bounds.otlpPauseMsMax);
      await sleep(clock, waitMs, null);
    }
  };
}

const again = new Set([429, 502, 503, 504]);

/** Without the collector's own words: they may quote what was sent to it. */
function answered({ status, headers }: OutboundAnswer, answer: Uint8Array): Once {
  if (status >= 200 && status < 300) return { told: { problem: null, mayBeTaken: false, answer }, afterMs: null };
  const problem = again.has(status) ? `it answers ${status}: it cannot take anything now` : `it answered ${status}`;
  const seconds = Number(headers.get("retry-after") ?? 0);
  const afterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
  return { told: { problem, mayBeTaken: false, answer: nothing }, afterMs: again.has(status) ? afterMs : null };
}

/** `The upstream could not be reached. (ECONNREFUSED)` */
function problemOf(thrown: unknown): string {
  if (!(thrown instanceof Failure)) return String(thrown);
  const code = thrown.cause instanceof Error && "code" in thrown.cause ? ` (${String(thrown.cause.code)})` : "";
  return thrown.message.replace("The upstream", "it") + code;
}

const gzipped = promisify(gzip) as (body: Uint8Array) => Promise<Uint8Array>;

function headersOf({ headers }: Pick<OtlpSignal, "headers">): Record<string, string> {
  const out: Record<string, string> = {};
  for (const part of (headers?.reveal() ?? "").split(",")) {
    const at = part.indexOf("=");
    if (at > 0) out[decodeURIComponent(part.slice(0, at).trim())] = decodeURIComponent(part.slice(at + 1).trim());
  }
  return out;
}

/** undefined: what holds for every connection of this process. */
async function certificatesOf(signal: OtlpSignal): Promise<OutboundNetwork | undefined> {
  const { certificateFile, clientCertificateFile, clientKeyFile } = signal;
  if (certificateFile === null && clientCertificateFile === null) return undefined;
  const authority = certificateFile === null ? null : await readFile(certificateFile, "utf8");
  const certificate = clientCertificateFile === null ? null : await readFile(clientCertificateFile, "utf8");
  // A key may stand in the same file as its certificate.
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

/** Throws when a certificate cannot be read. Returns what sends an export request, written as protobuf, and never rejects. */
export async function openExport(signal: OtlpSignal, kind: OtlpKind, network: CollectorNetwork) {
  const send = await openCollector(signal, network);
  const isJson = signal.protocol === "http/json";
  return async (request: Uint8Array) => {
    const { problem, mayBeTaken, answer } = await send(isJson ? requestAsJson(request, kind) : request);
    /** Records that the collector did not take, of those that it was sent. */
    const rejected = problem === null && answer.length > 0 ? rejectedIn(answer, isJson) : 0;
    return { problem, mayBeTaken, rejected };
  };
}

export type Export = Awaited<ReturnType<typeof openExport>>;

/** null: it takes exports. What it answers to an empty one is what it would answer to a full one, credentials and path among it. */
export async function probeCollector(
  signal: OtlpSignal,
  kind: OtlpKind,
  network: CollectorNetwork,
): Promise<string | null> {
  const send = await openExport(signal, kind, network);
  return (await send(new RequestBytes({ attributes: {}, scope: { name: "sluice" } }).take(0))).problem;
}
