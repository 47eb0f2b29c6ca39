import { type Caller, callRequest } from "../call-request.ts";
import { RawConnection } from "../raw-connection.ts";
import { type Quantiles, quantiles } from "../statistics.ts";
import { answer, readSpec } from "./spec.ts";

/**
 * Runs many paced streams through one contender. Prints one line when all streams are running and the window starts, and one with the
 * figures when all have ended.
 */
export interface StreamLoadSpec {
  readonly port: number;
  readonly key: string;
  readonly headers?: readonly string[];
  /** Left out: chat completions. */
  readonly caller?: Caller;
  /** Left out: the model of the chat upstream. */
  readonly model?: string;
  readonly streams: number;
  readonly bodyBytes: number;
  readonly gapMs: number;
  /** Streams opened per second. */
  readonly openPerSecond: number;
  readonly windowMs: number;
  /** Share of the streams that the caller aborts during the window, 0 to 1. */
  readonly abortShare?: number;
  /** Port of the upstream itself, to compare clocks. */
  readonly upstreamPort: number;
}

interface StreamsOpen {
  readonly open: number;
}

export interface StreamLoadResult {
  /** Number of events that arrived in the window, and their delays in milliseconds. */
  readonly events: number;
  readonly windowMs: number;
  readonly delay: Quantiles;
  readonly firstEvent: Quantiles;
  /** Streams that ended as expected. The others failed. */
  readonly ended: number;
  readonly aborted: number;
  readonly failed: number;
  readonly firstFailure: string | null;
}

const samplesMax = 4_000_000;
const clockTries = 200;
const endSlackMs = 500;

const spec = readSpec<StreamLoadSpec>();
const clockLeadMs = await upstreamClockLead(spec.upstreamPort);
const openMs = (spec.streams / spec.openPerSecond) * 1000;
const openEndsAt = performance.now() + openMs + 2 * spec.gapMs;
const windowEndsAt = openEndsAt + spec.windowMs;

const delays = new Float64Array(samplesMax);
const firsts: number[] = [];
let events = 0;
let counting = false;
let ended = 0;
let aborted = 0;
let failed = 0;
let firstFailure: string | null = null;

const request = callRequest({
  ...spec,
  stream: {
    gapMs: spec.gapMs,
    eventsMax: 1_000_000,
    endsAtMs: Math.round(windowEndsAt + endSlackMs + clockLeadMs),
  },
});

const streams: Promise<void>[] = [];
const start = performance.now();
while (streams.length < spec.streams) {
  await Bun.sleep(1);
  const due = Math.min(spec.streams, ((performance.now() - start) / openMs) * spec.streams);
  while (streams.length < due) streams.push(stream());
}
await Bun.sleep(openEndsAt - performance.now());
const openNow = spec.streams - ended - failed - aborted;
counting = true;
const windowStart = performance.now();
answer({ open: openNow } satisfies StreamsOpen);
await Bun.sleep(windowEndsAt - performance.now());
counting = false;
const windowMs = performance.now() - windowStart;
await Promise.all(streams);
answer({
  events,
  windowMs,
  delay: quantiles(delays.subarray(0, Math.min(events, samplesMax))),
  firstEvent: quantiles(firsts),
  ended,
  aborted,
  failed,
  firstFailure,
} satisfies StreamLoadResult);
process.exit(0);

async function stream(): Promise<void> {
  let abandoned = false;
  let giveUp: ReturnType<typeof setTimeout> | undefined;
  try {
    const connection = await RawConnection.open(spec.port);
    connection.onStamp = (sentMicroseconds) => {
      if (!counting) return;
      if (events < samplesMax) delays[events] = performance.now() + clockLeadMs - sentMicroseconds / 1000;
      events++;
    };
    if (Math.random() < (spec.abortShare ?? 0)) {
      const giveUpAt = openEndsAt + Math.random() * spec.windowMs;
      giveUp = setTimeout(() => {
        abandoned = true;
        connection.close();
      }, giveUpAt - performance.now());
    }
    const exchange = await connection.exchange(request);
    connection.close();
    if (exchange.status !== 200) throw new Error(`status ${exchange.status}`);
    firsts.push(exchange.firstBodyAt - exchange.startedAt);
    ended++;
  } catch (error) {
    if (abandoned) aborted++;
    else {
      failed++;
      firstFailure ??= String(error);
    }
  } finally {
    clearTimeout(giveUp);
  }
}

/** How far the upstream's clock is ahead of ours in milliseconds, from the fastest of several responses. */
async function upstreamClockLead(port: number): Promise<number> {
  const ask = Buffer.from("GET /clock HTTP/1.1\r\nhost: bench\r\n\r\n");
  const connection = await RawConnection.open(port);
  let best = { tookMs: Number.POSITIVE_INFINITY, leadMs: 0 };
  for (let index = 0; index < clockTries; index++) {
    const { startedAt, endedAt } = await connection.exchange(ask);
    const tookMs = endedAt - startedAt;
    if (tookMs < best.tookMs) best = { tookMs, leadMs: Number(connection.lastBody) - (startedAt + endedAt) / 2 };
  }
  connection.close();
  return best.leadMs;
}
