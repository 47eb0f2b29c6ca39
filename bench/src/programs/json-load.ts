import { callRequest } from "../call-request.ts";
import { RawConnection } from "../raw-connection.ts";
import { type Quantiles, quantiles } from "../statistics.ts";
import { answer, readSpec } from "./spec.ts";

/** Sends as many requests as possible over some connections: for machines without wrk, and for mixed load. */
export interface JsonLoadSpec {
  readonly port: number;
  readonly key: string;
  readonly headers?: readonly string[];
  readonly bodyBytes: number;
  readonly connections: number;
  readonly durationMs: number;
}

export interface JsonLoadResult {
  readonly requests: number;
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly latency: Quantiles;
}

const samplesMax = 2_000_000;

const spec = readSpec<JsonLoadSpec>();
const request = callRequest(spec);
const latencies = new Float64Array(samplesMax);
let requests = 0;
let failed = 0;
const start = performance.now();
const end = start + spec.durationMs;
await Promise.all(Array.from({ length: spec.connections }, work));
answer({
  requests,
  failed,
  seconds: (performance.now() - start) / 1000,
  latency: quantiles(latencies.subarray(0, Math.min(requests, samplesMax))),
} satisfies JsonLoadResult);
process.exit(0);

async function work(): Promise<void> {
  let connection: RawConnection | null = null;
  while (performance.now() < end) {
    try {
      connection ??= await RawConnection.open(spec.port);
      const { status, startedAt, endedAt } = await connection.exchange(request);
      if (requests < samplesMax) latencies[requests] = endedAt - startedAt;
      requests++;
      if (status !== 200) failed++;
    } catch {
      failed++;
      connection = null;
      // Avoids a busy loop when connections are refused.
      await Bun.sleep(10);
    }
  }
}
