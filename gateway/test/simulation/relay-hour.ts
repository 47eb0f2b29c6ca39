import { createMemoryCounter } from "#coordination/index.ts";
import { Failure, readableOf } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";
import type { CallResult } from "#relay/index.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { type Habit, habits, providers, responsesHabit } from "./habits.ts";
import { JournalInMemory } from "./journal-in-memory.ts";
import { PretendedUpstream } from "./pretended-upstream.ts";
import { seededChance } from "./seeded-chance.ts";

export const callsPerHour = 160;
const ledgerLagMs = 600;

/** What a caller got. `text` is a code when there was no answer. */
export interface Heard {
  readonly requestId: string;
  readonly habit: Habit;
  readonly text: string;
  readonly streamed: boolean;
  readonly left: boolean;
}

const principal = governedPrincipal({
  key: { limits: { rpm: 100_000, tpm: 10_000_000, concurrency: 1_000 }, budget: { nanoUsd: 1e12, period: "total" } },
});

const configSnapshot = quietConfigSnapshot({ providers, models: habits.map(({ model }) => model) });

/** An hour in the life of the relay, the same for the same seed: calls, failures, callers that leave, perhaps a shutdown. */
export async function playHour(seed: number) {
  const chance = seededChance(seed);
  const clock = new FakeClock();
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${String(++count).padStart(6, "0")}` };
  const journal = new JournalInMemory();
  const faults: string[] = [];
  const observer = loudObserver(faults);
  const counter = createMemoryCounter({ clock });
  const admission = new Admission({ counter, clock });
  const upstream = new PretendedUpstream(clock, chance);
  const { relay, router } = wireCalls({
    ...quietCallParts(),
    configSnapshot: () => configSnapshot,
    transport: upstream,
    steady: clock,
    ...{ admission, journal, ids, clock, chance, observer },
    objectStore: {
      find: async (workspaceId, ids) => journal.objects(workspaceId, ids, clock.now() - ledgerLagMs),
      put: async () => undefined,
    },
  });
  const begun = new Set<string>();
  upstream.onSend = (request) => {
    const intent = journal.open.get(request.headers["x-attempt-id"] ?? "");
    if (intent === undefined) faults.push("an attempt was sent before it was written");
    else if (begun.has(intent.requestId)) faults.push(`${intent.requestId} was tried again after its answer had begun`);
  };

  const heard: Heard[] = [];
  let streamEnds = 0;
  let streams = 0;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

  /** Asks, reads to the end or leaves, as chance has it. */
  const converse = async (habit: Habit, ask: (caller: Caller) => Promise<CallResult>): Promise<Heard> => {
    const leaving = new AbortController();
    const leavesAfterMs = chance.unit() < 0.3 ? chance.unit() * 400 : null;
    const requestId = ids.next("req_");
    let left = false;
    let stopReading = (): void => {};
    if (leavesAfterMs !== null) {
      clock.after(leavesAfterMs, () => {
        left = true;
        leaving.abort();
        stopReading();
      });
    }
    const result = await ask({ requestId, signal: leaving.signal, startedMs: clock.monotonic(), streamEnd });
    const tell = (text: string, streamed: boolean): Heard => {
      const told = { requestId, habit, text, streamed, left };
      heard.push(told);
      return told;
    };
    if ("failure" in result) return tell(result.failure.code, false);
    begun.add(requestId);
    if (result.body instanceof Uint8Array) return tell(new TextDecoder().decode(result.body), false);
    streams++;
    const reader = readableOf(result.body).getReader();
    stopReading = () => void reader.cancel();
    if (left) stopReading();
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      text += new TextDecoder().decode(piece.value);
    return tell(text, true);
  };
  const streamEnd = (): void => void streamEnds++;

  const generate = (habit: Habit, background: boolean): Promise<Heard> => {
    const streamed = chance.unit() < 0.6;
    const body = new TextEncoder().encode(habit.body(streamed, background));
    return converse(habit, (caller) =>
      relay.run({
        ...caller,
        principal,
        mayCall: () => true,
        protocol: habit.protocol,
        facts: habit.protocol.wire.readRequest(body, null),
        body,
        marks: null,
        query: "",
        headers: new Headers(),
        models: [habit.model],
        bodyWaitMs: 0,
        userAgent: "",
        tags: {},
      }),
    );
  };

  /** Looks again, a few times, at an answer that the upstream keeps. */
  const lookAgain = async (upstreamId: string): Promise<void> => {
    for (let times = 1 + Math.floor(chance.unit() * 3); times > 0; times--) {
      await pause(chance.unit() * 900);
      const way = ways[Math.floor(chance.unit() * ways.length)] ?? ways[0];
      await converse(responsesHabit, (caller) =>
        relay.ask({
          ...caller,
          ...way,
          principal,
          protocol: responsesHabit.protocol,
          upstreamId,
          headers: new Headers(),
          mayCall: () => true,
        }),
      );
    }
  };

  const call = async (): Promise<void> => {
    await pause(chance.unit() * 3_000);
    const habit = habits[Math.floor(chance.unit() * habits.length)] ?? responsesHabit;
    const told = await generate(habit, habit === responsesHabit && chance.unit() < 0.6);
    const kept = /"id":"(resp_\w+)"/.exec(told.text)?.[1];
    if (habit === responsesHabit && kept !== undefined) await lookAgain(kept);
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
    heard,
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

const ways = [
  { method: "GET", rest: "", query: "" },
  { method: "GET", rest: "", query: "stream=true" },
  { method: "POST", rest: "/cancel", query: "" },
  { method: "GET", rest: "/input_items", query: "limit=3" },
] as const;

function loudObserver(faults: string[]): Observer {
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
