import { describe, expect, test } from "bun:test";
import { BodyWork } from "#bodies/index.ts";
import { createMemoryCounter, createMemoryHealthBoard } from "#coordination/index.ts";
import { createRecorder } from "#ledger/index.ts";
import { createAdmission } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";
import type { CallerCodec } from "#protocols/index.ts";
import { Relay } from "#relay/index.ts";
import { createRouter } from "#routing/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { silentExplainer } from "../silent-explainer.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";
import { type Habit, habits } from "../simulation/habits.ts";
import { JournalInMemory } from "../simulation/journal-in-memory.ts";
import { PretendedUpstream } from "../simulation/pretended-upstream.ts";

const noise: Observer = {
  log: () => {},
  attemptEnd: () => {},
  requestEnd: () => {},
  breakerChange: () => {},
  configReload: () => {},
};
const principal = governedPrincipal({ key: { limits: { concurrency: 100 } } });
const habit = habits.find(({ speech }) => speech.endpoint === "messages");

function broken(): never {
  throw new TypeError("undefined is not an object");
}

/** The codec of messages, with one part of it broken. `after`: events that are still written. */
function brokenCodec(part: "readTurn" | "writeAnswer" | "writeEvents" | "write", after = 0): CallerCodec {
  const sound = messages().speech.codec;
  if (sound === null) throw new Error("messages can be translated");
  return {
    readTurn: part === "readTurn" ? broken : sound.readTurn,
    writeAnswer: part === "writeAnswer" ? broken : sound.writeAnswer,
    writeEvents(context) {
      if (part === "writeEvents") broken();
      const writer = sound.writeEvents(context);
      let written = 0;
      return { write: (event) => (part === "write" && written++ >= after ? broken() : writer.write(event)) };
    },
  };
}

function messages(): Habit {
  if (habit === undefined) throw new Error("no such habit");
  return habit;
}

/** A call through a relay whose upstream always answers well. */
async function callWith(codec: CallerCodec, stream: boolean) {
  const clock = new FakeClock();
  const chance = { unit: () => 0.5 };
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${++count}` };
  const journal = new JournalInMemory();
  const counter = createMemoryCounter({ clock });
  const router = createRouter({ board: createMemoryHealthBoard(clock), clock, chance, observer: noise });
  const upstream = new PretendedUpstream(clock, chance);
  const { speech, model, body } = messages();
  const relay = new Relay({
    sharesAccount: () => false,
    catalog: () => ({
      version: 1,
      workspaces: new Map(),
      groups: new Map(),
      providers: new Map(),
      models: new Map(),
      settings: {
        logBodies: "none",
        ledgerDurability: "disk",
        ledgerRetentionDays: 1,
        explanationRetentionDays: 30,
        captureRetentionDays: 7,
        drainTimeoutMs: 1,
        videoCopyResults: false,
        retrySent: false,
      },
    }),
    router,
    admission: createAdmission({ counter, clock }),
    recorder: createRecorder({ journal, clock, ids, observer: noise }),
    journal,
    transport: upstream,
    ledgerStore: { keeper: async () => null },
    ids,
    clock,
    observer: noise,
    explainer: silentExplainer,
    bodies: new BodyWork({ offload: null, newId: ids.next }),
  });
  let sent = 0;
  upstream.onSend = () => sent++;
  const bytes = new TextEncoder().encode(body(stream, false));
  const heard = (async () => {
    const result = await relay.run({
      requestId: "req",
      principal,
      mayCall: () => true,
      speech: { ...speech, codec },
      facts: speech.wire.readRequest(bytes, null),
      body: bytes,
      seals: null,
      query: "",
      headers: new Headers(),
      models: [model],
      signal: new AbortController().signal,
      startedMs: 0,
      bodyWaitMs: 0,
      userAgent: "",
      tags: {},
      streamEnd: () => {},
    });
    if ("failure" in result) return result.failure.code;
    return new Response(result.body).text();
  })();
  let over = false;
  void heard.finally(() => {
    over = true;
  });
  for (let turn = 0; !over && turn < 1_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(20);
  }
  const inFlight = router.states().reduce((sum, state) => sum + state.inFlight, 0);
  const breakers = router.states().map(({ breaker }) => breaker);
  return {
    heard: await heard,
    sent,
    left: [journal.open.size, counter.outstanding, inFlight, upstream.openStreams, relay.liveStreams],
    breakers: new Set(breakers),
    entries: journal.entries.map(({ outcome, errorCode, usage }) => [outcome, errorCode, usage.output > 0]),
    faults: journal.faults,
  };
}

describe("a defect in a codec ends its own call and leaves nothing open", () => {
  test.each([
    ["reads the call", brokenCodec("readTurn"), false, 0, false],
    ["writes the whole answer", brokenCodec("writeAnswer"), false, 1, true],
    ["begins to write a stream", brokenCodec("writeEvents"), true, 1, false],
    ["writes the first event", brokenCodec("write"), true, 1, false],
  ])("when it breaks as it %s", async (_, codec, stream, sends, paid) => {
    const { heard, sent, left, breakers, entries, faults } = await callWith(codec, stream);
    expect([heard, sent]).toEqual(["internal_error", sends]);
    expect(entries).toEqual([["failed", "internal_error", paid]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
    expect(breakers).toEqual(new Set(["closed"]));
  });

  test("when it breaks in the middle of a stream, the caller is told in plain words of its dialect", async () => {
    const { heard, left, entries, faults } = await callWith(brokenCodec("write", 3), true);
    expect(heard).toEndWith("\n\n");
    expect(heard).toContain('event: error\ndata: {"type":"error","error":{"type":"api_error"');
    expect(entries).toEqual([["failed", "internal_error", true]]);
    expect([left, faults]).toEqual([[0, 0, 0, 0, 0], []]);
  });
});
