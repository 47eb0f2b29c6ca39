import { describe, expect, test } from "bun:test";
import {
  defaultTimeouts,
  Failure,
  type LedgerEntry,
  noUsage,
  type PriceVersion,
  type Provider,
  Secret,
} from "#core/index.ts";
import type { Chance, Clock, OutboundAnswer, OutboundRequest } from "#ports/index.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { SendingTransport } from "../sending-transport.ts";
import { KillableProcess } from "./killable-process.ts";
import { seededChance } from "./seeded-chance.ts";
import { jsonAnswer } from "./simulated-ark.ts";
import { alice, openTaskSetup, openTaskWorld, passTime, type TaskSetup, type TaskWorld } from "./task-setup.ts";

const provider: Provider = {
  id: "main",
  kind: "openai",
  baseUrl: "https://api.example/v1",
  secret: new Secret("sk-upstream"),
  allowPrivateNetwork: false,
  timeouts: defaultTimeouts,
  disconnect: "cancel",
  settings: {},
  enabled: true,
};
/** One nano-USD for each output token. */
const price: PriceVersion = { id: "prc_1", model: "gpt-test", table: { output: 1_000 }, effectiveFrom: 0 };
const expected = { ...noUsage, inputUncached: 5, output: 777 };
const responsesPerSeed = 40;

type End = "completed" | "failed" | "cancelled" | "forgotten";

interface VendorResponse {
  readonly id: string;
  readonly readyAt: number;
  readonly end: End;
  readonly tokens: number;
}

/** Knows the real end of every response, and answers polls like an unreliable vendor. */
class SimulatedResponses extends SendingTransport {
  readonly responses = new Map<string, VendorResponse>();
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(clock: Clock, chance: Chance) {
    super();
    this.#clock = clock;
    this.#chance = chance;
  }

  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const response = this.responses.get(new URL(request.url).pathname.split("/").at(-1) ?? "");
    const lot = this.#chance.unit();
    if (lot < 0.05) throw new Failure("upstream_timeout", "headers", { retry: "other", unhealthy: true });
    if (lot < 0.15) return jsonAnswer(500, { error: { message: "ill" } });
    if (lot < 0.2) return jsonAnswer(429, { error: { message: "slow down" } });
    const isReady = response !== undefined && this.#clock.now() >= response.readyAt;
    if (response === undefined || (isReady && response.end === "forgotten")) return jsonAnswer(404, { error: {} });
    const body = { id: response.id, object: "response", output: [], usage: null };
    if (!isReady) return jsonAnswer(200, { ...body, status: "in_progress" });
    const usage = { input_tokens: 5, output_tokens: response.tokens, total_tokens: 5 + response.tokens };
    return jsonAnswer(200, { ...body, status: response.end, ...(response.end === "completed" ? { usage } : {}) });
  }
}

/** The entry that the starting call wrote to the journal. */
function pendingEntry(world: TaskWorld, response: VendorResponse): LedgerEntry {
  const at = world.clock.now();
  return {
    attemptId: world.ids.next("att_"),
    requestId: world.ids.next("req_"),
    at,
    startedAfterMs: 0,
    workspaceId: alice.workspace.id,
    groupId: alice.group.id,
    keyId: alice.key.id,
    model: "gpt-test",
    requestedModel: "gpt-test",
    provider: "main",
    deployment: "dep_1",
    upstreamModel: "upstream-gpt",
    endpoint: "responses",
    callerDialect: "openai-responses",
    upstreamDialect: "openai-responses",
    stream: false,
    retryIndex: 0,
    priceVersion: price.id,
    inputEstimate: 5,
    reservedNanoUsd: 1_000,
    userAgent: "",
    tags: {},
    endedAt: at,
    outcome: "pending",
    httpStatus: 200,
    upstreamStatus: 200,
    errorCode: null,
    usage: expected,
    usageSource: "estimated",
    rawUsage: null,
    costNanoUsd: 0,
    totalMs: 20,
    firstByteMs: 20,
    firstTokenMs: null,
    upstreamMs: 20,
    overheadMs: 0,
    upstreamId: response.id,
  };
}

const ends: readonly End[] = ["completed", "completed", "completed", "failed", "cancelled", "forgotten"];

async function play(seed: number) {
  const chance = seededChance(seed);
  const world = await openTaskWorld(seed);
  const vendor = new SimulatedResponses(world.clock, chance);
  const configSnapshot = quietConfigSnapshot({ providers: [provider] });
  const start = async (): Promise<TaskSetup & { readonly killable: KillableProcess }> => {
    const killable = new KillableProcess();
    const setup = openTaskSetup(world, {
      configSnapshot: () => configSnapshot,
      ledger: { price: async () => price },
      clock: killable.clock(world.clock),
      transport: killable.transport(vendor),
      store: killable.store(world.taskStore),
    });
    await setup.videos.restoreHolds();
    setup.videos.start();
    return { ...setup, killable };
  };
  const running = [await start(), await start()];
  for (let second = 0; second < 200; second++) {
    if (vendor.responses.size < responsesPerSeed && chance.unit() < 0.4) {
      const id = `resp_${vendor.responses.size}`;
      const end = ends[vendor.responses.size % ends.length] ?? "completed";
      const response = {
        id,
        end,
        readyAt: world.clock.now() + chance.unit() * 120_000,
        tokens: vendor.responses.size + 1,
      };
      vendor.responses.set(id, response);
      const entry = pendingEntry(world, response);
      await running[0]?.videos.responses.hold(alice, entry.attemptId, entry.reservedNanoUsd, entry);
      // Draining may insert the entry twice, in two processes.
      await world.ledgerStore.insert([entry]);
      if (chance.unit() < 0.3) await world.ledgerStore.insert([entry]);
      if (chance.unit() < 0.2) void running[1]?.videos.responses.refresh(alice.workspace.id, id, neverEnds);
    }
    const index = chance.unit() < 0.5 ? 0 : 1;
    if (chance.unit() < 0.05) {
      running[index]?.killable.kill();
      running[index] = await start();
    }
    await passTime(world.clock, 1_000, 500);
  }
  // After this time, a response that the vendor has forgotten counts as missing.
  await passTime(world.clock, 3_600_000, 5_000);
  const { entries } = await world.ledgerStore.page({}, null, 1_000);
  await Promise.all(running.map(({ videos }) => videos.stop()));
  return { world, vendor, entries, running };
}

const neverEnds = new AbortController().signal;

describe("background responses of an unreliable vendor, with processes that are killed and replaced", () => {
  test.each([1, 2, 3, 5])(
    "seed %d: each response gets one entry with the vendor's usage, and no reservation remains",
    async (seed) => {
      const { world, vendor, entries, running } = await play(seed);
      await using _ = world;
      const all = [...vendor.responses.values()];
      expect(all.length).toBe(responsesPerSeed);
      expect(entries.map(({ upstreamId }) => upstreamId).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
      for (const { id, end, tokens } of all) {
        const entry = entries.find(({ upstreamId }) => upstreamId === id);
        const ending = [entry?.outcome, entry?.usageSource, entry?.costNanoUsd];
        if (end === "completed") expect(ending).toEqual(["succeeded", "upstream", tokens]);
        if (end === "failed") expect(ending).toEqual(["failed", "none", 0]);
        if (end === "cancelled") expect(ending.slice(0, 2)).toEqual(["cancelled", "estimated"]);
        if (end === "forgotten") expect(ending).toEqual(["failed", "estimated", expected.output]);
      }
      for (const { videos, admission } of running) {
        expect([videos.held, admission.outstanding, admission.repeatedEndings]).toEqual([0, 0, 0]);
      }
    },
  );
});
