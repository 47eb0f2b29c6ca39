import { describe, expect, test } from "bun:test";
import { createMemoryCounter, createMemoryHealthBoard } from "#coordination/index.ts";
import {
  type Catalog,
  type Checkpoint,
  type Deployment,
  defaultTimeouts,
  type Intent,
  joinEntry,
  type LedgerEntry,
  type Model,
  type Settlement,
  usdPerMillionToPico,
} from "#core/index.ts";
import { createRecorder } from "#ledger/index.ts";
import { createAdmission } from "#limits/index.ts";
import type { Journal, Observer } from "#ports/index.ts";
import { openaiChat, openaiChatWire } from "#protocols/index.ts";
import { Relay, type Speech } from "#relay/index.ts";
import { createRouter } from "#routing/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { governedPrincipal } from "./governed-principal.ts";
import { PretendedUpstream } from "./pretended-upstream.ts";
import { seededChance } from "./seeded-chance.ts";

const speech: Speech = {
  endpoint: "chat",
  bodies: "openai-chat",
  dialect: openaiChat,
  wire: openaiChatWire,
  codec: null,
};
const callsPerSeed = 60;

/** Keeps what a journal is given and complains when the order of things is broken. */
class JournalInMemory implements Journal {
  readonly open = new Map<string, Intent>();
  readonly entries: LedgerEntry[] = [];
  readonly faults: string[] = [];
  readonly healthy = true;
  readonly lag = 0;

  intent(intent: Intent): void {
    if (this.open.has(intent.attemptId)) this.faults.push(`${intent.attemptId} was begun twice`);
    this.open.set(intent.attemptId, intent);
  }

  checkpoint(checkpoint: Checkpoint): void {
    if (!this.open.has(checkpoint.attemptId)) this.faults.push(`${checkpoint.attemptId} went on after its end`);
  }

  settle(settlement: Settlement): void {
    const intent = this.open.get(settlement.attemptId);
    if (intent === undefined) this.faults.push(`${settlement.attemptId} was settled without being open`);
    else this.entries.push(joinEntry(intent, settlement));
    this.open.delete(settlement.attemptId);
  }

  refuse(entry: LedgerEntry): void {
    this.entries.push(entry);
  }

  async synced(): Promise<void> {}
  async drained(): Promise<void> {}
  async close(): Promise<void> {}
}

interface Heard {
  readonly requestId: string;
  readonly text: string;
  readonly streamed: boolean;
  readonly left: boolean;
}

async function play(seed: number) {
  const chance = seededChance(seed);
  const clock = new FakeClock();
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${String(++count).padStart(6, "0")}` };
  const journal = new JournalInMemory();
  const noise: string[] = [];
  const observer: Observer = {
    log: (level, message) => {
      if (level === "error") noise.push(message);
    },
    attemptEnd: () => {},
    requestEnd: () => {},
    breakerChange: () => {},
    configReload: () => {},
  };
  const counter = createMemoryCounter({ clock });
  const admission = createAdmission({ counter, clock });
  const router = createRouter({ board: createMemoryHealthBoard(clock), clock, chance, observer });
  const upstream = new PretendedUpstream(clock, chance);
  const catalog: Catalog = {
    version: 1,
    workspaces: new Map(),
    groups: new Map(),
    providers: new Map(),
    models: new Map(),
    settings: {
      logBodies: "none",
      ledgerDurability: "disk",
      ledgerRetentionDays: 1,
      drainTimeoutMs: 1,
      videoCopyResults: false,
    },
  };
  const relay = new Relay({
    catalog: () => catalog,
    router,
    admission,
    recorder: createRecorder({ journal, clock, ids, observer }),
    journal,
    transport: upstream,
    ledgerStore: { keeper: async () => null },
    ids,
    clock,
    observer,
  });
  const principal = governedPrincipal({
    key: { limits: { rpm: 100_000, tpm: 10_000_000, concurrency: 1_000 }, budget: { nanoUsd: 1e12, period: "total" } },
  });
  const faults: string[] = [];
  const begun = new Set<string>();
  upstream.onSend = (request) => {
    const intent = journal.open.get(request.headers["x-attempt-id"] ?? "");
    if (intent === undefined) faults.push("an attempt was sent before it was written");
    else if (begun.has(intent.requestId)) faults.push(`${intent.requestId} was tried again after its answer had begun`);
  };

  const heard: Heard[] = [];
  const call = async (): Promise<void> => {
    await new Promise<void>((resolve) => void clock.after(chance.unit() * 3_000, resolve));
    const streamed = chance.unit() < 0.6;
    const leaving = new AbortController();
    const leavesAfterMs = chance.unit() < 0.25 ? chance.unit() * 400 : null;
    const body = new TextEncoder().encode(
      `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":${streamed}}`,
    );
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
    const result = await relay.run({
      requestId,
      principal,
      speech,
      facts: openaiChatWire.readRequest(body, null),
      body,
      query: "",
      headers: new Headers(),
      models: [model],
      signal: leaving.signal,
      startedMs: clock.monotonic(),
      bodyWaitMs: 0,
      userAgent: "",
      tags: {},
      streamEnd: () => {},
    });
    if ("failure" in result) return void heard.push({ requestId, text: result.failure.code, streamed: false, left });
    begun.add(requestId);
    if (result.body instanceof Uint8Array) {
      return void heard.push({ requestId, text: new TextDecoder().decode(result.body), streamed: false, left });
    }
    const reader = result.body.getReader();
    stopReading = () => void reader.cancel();
    if (left) stopReading();
    let text = "";
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      text += new TextDecoder().decode(piece.value);
    heard.push({ requestId, text, streamed: true, left });
  };
  let running = callsPerSeed;
  for (let index = 0; index < callsPerSeed; index++) void call().finally(() => running--);
  for (let turn = 0; running > 0 || journal.open.size > 0; turn++) {
    if (turn > 20_000)
      throw new Error(`seed ${seed}: ${running} calls never end, ${journal.open.size} attempts are open`);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(7);
  }
  const [budget] = (await admission.standing(principal)).filter((standing) => standing.name === "budget");
  return {
    journal,
    upstream,
    counter,
    router,
    heard,
    faults: [...faults, ...journal.faults, ...noise],
    spentUsd: budget?.used ?? 0,
  };
}

const deployment = (id: string, priority: number): Deployment => ({
  id,
  provider: {
    id: `provider of ${id}`,
    kind: "openai-compatible",
    baseUrl: "http://upstream.example/v1",
    secret: null,
    allowPrivateNetwork: true,
    timeouts: defaultTimeouts,
    disconnect: id === "dep_drained" ? "drain" : "cancel",
    settings: {},
    enabled: true,
  },
  upstreamModel: "m",
  priority,
  weight: 100,
  enabled: true,
});

const model: Model = {
  name: "m",
  type: "chat",
  ownedBy: "us",
  createdAt: 0,
  deployments: [deployment("dep_first", 1), deployment("dep_drained", 1), deployment("dep_spare", 2)],
  fallbacks: [],
  price: {
    id: "prc_1",
    model: "m",
    table: { inputUncached: usdPerMillionToPico(1.25), output: usdPerMillionToPico(10) },
    effectiveFrom: 0,
  },
};

describe("a seeded hour of calls, failures and callers that leave", () => {
  test.each([1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233])(
    "seed %d: every attempt is settled once, nothing stays reserved, and the money is the same on both sides",
    async (seed) => {
      const { journal, upstream, counter, router, heard, faults, spentUsd } = await play(seed);
      expect(faults).toEqual([]);
      expect(heard).toHaveLength(callsPerSeed);
      expect(counter.outstanding).toBe(0);
      expect(router.states().map((state) => state.inFlight)).toEqual(router.states().map(() => 0));

      const cost = journal.entries.reduce((sum, entry) => sum + entry.costNanoUsd, 0);
      expect(Math.round(spentUsd * 1e9)).toBe(cost);

      const entries = new Map(journal.entries.map((entry) => [entry.attemptId, entry]));
      for (const { attemptId, outputTokens, complete } of upstream.served) {
        const entry = entries.get(attemptId);
        expect(entry).toBeDefined();
        if (entry?.outcome === "succeeded") expect([complete, entry.usage.output]).toEqual([true, outputTokens]);
        else expect(entry?.usage.output).toBeLessThanOrEqual(outputTokens);
      }
      for (const { requestId, text, streamed, left } of heard) {
        const ends = journal.entries.filter((entry) => entry.requestId === requestId).map((entry) => entry.outcome);
        if (left) continue;
        if (streamed) expect(text.endsWith("data: [DONE]\n\n")).toBe(ends.includes("succeeded"));
        if (streamed && !ends.includes("succeeded")) expect(text).toContain('"error"');
        expect(ends.filter((outcome) => outcome === "succeeded").length).toBeLessThanOrEqual(1);
      }
    },
  );

  test("the same seed plays the same hour", async () => {
    const told = async () =>
      (await play(7)).journal.entries.map((entry) => [entry.attemptId, entry.outcome, entry.costNanoUsd]);
    expect(await told()).toEqual(await told());
  });
});
