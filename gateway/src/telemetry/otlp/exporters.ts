import type { OtlpSignal } from "#ports/index.ts";
import { CollectorClient, type CollectorNetwork } from "./collector-client.ts";
import { type OtlpKind, rejectedIn, requestAsJson } from "./otlp-json.ts";
import { RequestBytes } from "./request-bytes.ts";

/** How an export ended. `rejected`: records that the collector did not take, of those that it was sent. */
interface Exported {
  readonly problem: string | null;
  /** With a problem: the collector may have taken it all the same. */
  readonly mayBeTaken: boolean;
  readonly rejected: number;
}

/** Sends an export request, written as protobuf, within the signal's time-out. Never rejects. */
export type Export = (request: Uint8Array) => Promise<Exported>;

/** Throws when a certificate cannot be read. */
export async function openExport(signal: OtlpSignal, kind: OtlpKind, network: CollectorNetwork): Promise<Export> {
  const client = await CollectorClient.open(signal, network);
  const isJson = signal.protocol === "http/json";
  return async (request) => {
    const { problem, mayBeTaken, answer } = await client.send(isJson ? requestAsJson(request, kind) : request);
    return { problem, mayBeTaken, rejected: problem === null && answer.length > 0 ? rejectedIn(answer, isJson) : 0 };
  };
}

/** null: it takes exports. What it answers to an empty one is what it would answer to a full one, credentials and path among it. */
export async function probeCollector(
  signal: OtlpSignal,
  kind: OtlpKind,
  network: CollectorNetwork,
): Promise<string | null> {
  const send = await openExport(signal, kind, network);
  return (await send(new RequestBytes({ attributes: {}, scope: { name: "sluice" } }).take(0))).problem;
}
