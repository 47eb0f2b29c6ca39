import { createMemoryCounter } from "#coordination/index.ts";
import { Failure, readableOf } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";
import type { CallResult } from "#relay/index.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { type CallPattern, callPatterns, providers, responsesPattern } from "./call-patterns.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { JournalInMemory } from "./journal-in-memory.ts";
import { seededChance } from "./seeded-chance.ts";
import { SimulatedUpstream } from "./simulated-upstream.ts";

export const callsPerHour = 160;
const ledgerLagMs = 600;

/** The answer that a caller received. `text` is an error code when there was no answer. */
export interface CallerResult {
  readonly requestId: string;
  readonly pattern: CallPattern;
  readonly text: string;
  readonly streamed: boolean;
  readonly isDisconnected: boolean;
}

const principal = governedPrincipal({
  key: { limits: { rpm: 100_000, tpm: 10_000_000, concurrency: 1_000 }, budget: { nanoUsd: 1e12, period: "total" } },
});

const configSnapshot = quietConfigSnapshot({ providers, models: callPatterns.map(({ model }) => model) });

/**
 * An hour of calls through the relay, with failures, disconnecting callers and sometimes a shutdown. The same seed
 * gives the same hour.
 */
export async function playHour(seed: number) {
  const chance = seededChance(seed);
  const clock = new FakeClock();
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${String(++count).padStart(6, "0")}` };
  const journal = new JournalInMemory();
  const faults: string[] = [];
  const observer = faultObserver(faults);
  const counter = createMemoryCounter({ clock });
  const admission = new Admission({ counter, clock });
  const upstream = new SimulatedUpstream(clock, chance);
  const { relay, router } = wireCalls({
    ...quietCallParts(),
    configSnapshot: () => configSnapshot,
    transport: upstream,
    steady: clock,
    ...{ admission, journal, ids, clock, chance, observer },
    objectStore: {
      find: async (workspaceId, ids) => journal.objects(workspaceId, ids, clock.now() - ledgerLagMs),
      list: async () => [],
      put: async () => undefined,
    },
  });
  const answered = new Set<string>();
  upstream.onSend = (request) => {
    const intent = journal.open.get(request.headers["x-attempt-id"] ?? "");
    if (intent === undefined) faults.push("an attempt was sent before its intent was written");
    else if (answered.has(intent.requestId)) faults.push(`${intent.requestId} was retried after its answer had begun`);
  };

  const results: CallerResult[] = [];
  let streamEnds = 0;
  let streams = 0;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  /** Sends a call, and reads to the end or disconnects, at random. */
  const runCall = async (pattern: CallPattern, ask: (caller: Caller) => Promise<CallResult>): Promise<CallerResult> => {
    const disconnect = new AbortController();
    const disconnectsAfterMs = chance.unit() < 0.3 ? chance.unit() * 400 : null;
    const requestId = ids.next("req_");
    let isDisconnected = false;
    let stopReading = (): void => {};
    if (disconnectsAfterMs !== null) {
      clock.after(disconnectsAfterMs, () => {
        isDisconnected = true;
        disconnect.abort();
        stopReading();
      });
    }
    const result = await ask({ requestId, signal: disconnect.signal, startedMs: clock.monotonic(), streamEnd });
    const record = (text: string, streamed: boolean): CallerResult => {
      const callerResult = { requestId, pattern, text, streamed, isDisconnected };
      results.push(callerResult);
      return callerResult;
    };
    if ("failure" in result) return record(result.failure.code, false);
    answered.add(requestId);
    if (result.body instanceof Uint8Array) return record(new TextDecoder().decode(result.body), false);
    streams++;
    const reader = readableOf(result.body).getReader();
    stopReading = () => void reader.cancel();
    if (isDisconnected) stopReading();
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      text += new TextDecoder().decode(piece.value);
    return record(text, true);
  };
  const streamEnd = (): void => void streamEnds++;

  const generate = (pattern: CallPattern, background: boolean): Promise<CallerResult> => {
    const streamed = chance.unit() < 0.6;
    const body = new TextEncoder().encode(pattern.body(streamed, background));
    return runCall(pattern, (caller) =>
      relay.run({
        ...caller,
        principal,
        mayCall: () => true,
        protocol: pattern.protocol,
        facts: pattern.protocol.wire.readRequest(body, null),
        body,
        marks: null,
        query: "",
        headers: new Headers(),
        models: [pattern.model],
        bodyWaitMs: 0,
        userAgent: "",
        tags: {},
        session: null,
      }),
    );
  };

  /** Reads a stored response again, a few times. */
  const readAgain = async (upstreamId: string): Promise<void> => {
    for (let times = 1 + Math.floor(chance.unit() * 3); times > 0; times--) {
      await pause(chance.unit() * 900);
      const variant = variants[Math.floor(chance.unit() * variants.length)] ?? variants[0];
      await runCall(responsesPattern, (caller) =>
        relay.ask({
          ...caller,
          ...variant,
          principal,
          protocol: responsesPattern.protocol,
          upstreamId,
          headers: new Headers(),
          mayCall: () => true,
        }),
      );
    }
  };

  const call = async (): Promise<void> => {
    await pause(chance.unit() * 3_000);
    const pattern = callPatterns[Math.floor(chance.unit() * callPatterns.length)] ?? responsesPattern;
    const first = await generate(pattern, pattern === responsesPattern && chance.unit() < 0.6);
    const responseId = /"id":"(resp_\w+)"/.exec(first.text)?.[1];
    if (pattern === responsesPattern && responseId !== undefined) await readAgain(responseId);
  };

  let running = callsPerHour;
  for (let index = 0; index < callsPerHour; index++) void call().finally(() => running--);
  const shutdown = chance.unit() < 0.5;
  if (shutdown) clock.after(1_500, () => relay.abortStreams(new Failure("draining", "The gateway is shutting down.")));
  const idle = (): boolean => journal.open.size === 0 && relay.liveStreams === 0 && counter.outstanding === 0;
  for (let turn = 0; running > 0 || !idle(); turn++) {
    if (turn > 20_000)
      throw new Error(`seed ${seed}: ${running} calls never end, ${journal.open.size} attempts are open`);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(7);
  }
  const [budget] = (await admission.limitUsages(principal.scopes)).filter((limitUsage) => limitUsage.name === "budget");
  return {
    shutdown,
    journal,
    upstream,
    counter,
    router,
    results,
    streams,
    streamEnds,
    repeatedEndings: admission.repeatedEndings,
    faults: [...faults, ...journal.faults],
    spentUsd: budget?.used ?? 0,
  };
}

interface Caller {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly startedMs: number;
  readonly streamEnd: () => void;
}

const variants = [
  { method: "GET", rest: "", query: "" },
  { method: "GET", rest: "", query: "stream=true" },
  { method: "POST", rest: "/cancel", query: "" },
  { method: "GET", rest: "/input_items", query: "limit=3" },
] as const;

function faultObserver(faults: string[]): Observer {
  return {
    log: (level, message, fields) => {
      if (level === "error") faults.push(`${message} ${String(fields?.["error"])}`);
    },
    attemptEnd: () => {},
    requestEnd: () => {},
    breakerChange: () => {},
    configReload: () => {},
  };
}
