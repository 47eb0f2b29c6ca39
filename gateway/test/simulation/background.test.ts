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
import type { Chance, Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { Mortal } from "./mortal.ts";
import { jsonAnswer } from "./pretended-ark.ts";
import { seededChance } from "./seeded-chance.ts";
import { alice, openTaskSetup, openTaskTown, passTime, type TaskSetup, type TaskTown } from "./task-setup.ts";

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
/** A nano-USD for each token of output. */
const price: PriceVersion = { id: "prc_1", model: "gpt-test", table: { output: 1_000 }, effectiveFrom: 0 };
const expected = { ...noUsage, inputUncached: 5, output: 777 };
const responsesPerSeed = 40;

type End = "completed" | "failed" | "cancelled" | "forgotten";

interface Made {
  readonly id: string;
  readonly readyAt: number;
  readonly end: End;
  readonly tokens: number;
}

/** Keeps the truth of every response, and answers polls as an ill vendor does. */
class PretendedResponses implements Transport {
  readonly made = new Map<string, Made>();
  readonly #clock: Clock;
  readonly #chance: Chance;

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock;
    this.#chance = chance;
  }

  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const made = this.made.get(new URL(request.url).pathname.split("/").at(-1) ?? "");
    const lot = this.#chance.unit();
    if (lot < 0.05) throw new Failure("upstream_timeout", "headers", { retry: "other", unhealthy: true });
    if (lot < 0.15) return jsonAnswer(500, { error: { message: "ill" } });
    if (lot < 0.2) return jsonAnswer(429, { error: { message: "slow down" } });
    const isReady = made !== undefined && this.#clock.now() >= made.readyAt;
    if (made === undefined || (isReady && made.end === "forgotten")) return jsonAnswer(404, { error: {} });
    const body = { id: made.id, object: "response", output: [], usage: null };
    if (!isReady) return jsonAnswer(200, { ...body, status: "in_progress" });
    const usage = { input_tokens: 5, output_tokens: made.tokens, total_tokens: 5 + made.tokens };
    return jsonAnswer(200, { ...body, status: made.end, ...(made.end === "completed" ? { usage } : {}) });
  }
}

/** What the call that began it has left in the journal. */
function pendingEntry(town: TaskTown, made: Made): LedgerEntry {
  const at = town.clock.now();
  return {
    attemptId: town.ids.next("att_"),
    requestId: town.ids.next("req_"),
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
    upstreamId: made.id,
  };
}

const ends: readonly End[] = ["completed", "completed", "completed", "failed", "cancelled", "forgotten"];

async function play(seed: number) {
  const chance = seededChance(seed);
  const town = await openTaskTown(seed);
  const vendor = new PretendedResponses(town.clock, chance);
  const configSnapshot = quietConfigSnapshot({ providers: [provider] });
  const start = async (): Promise<TaskSetup & { readonly mortal: Mortal }> => {
    const mortal = new Mortal();
    const setup = openTaskSetup(town, {
      configSnapshot: () => configSnapshot,
      ledger: { price: async () => price },
      clock: mortal.clock(town.clock),
      transport: mortal.transport(vendor),
      store: mortal.store(town.taskStore),
    });
    await setup.videos.restoreHolds();
    setup.videos.start();
    return { ...setup, mortal };
  };
  const running = [await start(), await start()];
  for (let second = 0; second < 200; second++) {
    if (vendor.made.size < responsesPerSeed && chance.unit() < 0.4) {
      const id = `resp_${vendor.made.size}`;
      const end = ends[vendor.made.size % ends.length] ?? "completed";
      const made = { id, end, readyAt: town.clock.now() + chance.unit() * 120_000, tokens: vendor.made.size + 1 };
      vendor.made.set(id, made);
      const entry = pendingEntry(town, made);
      await running[0]?.videos.responses.hold(alice, entry.attemptId, entry.reservedNanoUsd);
      // The drain may give it twice, in two processes.
      await town.ledgerStore.insert([entry]);
      if (chance.unit() < 0.3) await town.ledgerStore.insert([entry]);
      if (chance.unit() < 0.2) void running[1]?.videos.responses.refresh(alice.workspace.id, id, neverEnds);
    }
    const index = chance.unit() < 0.5 ? 0 : 1;
    if (chance.unit() < 0.05) {
      running[index]?.mortal.kill();
      running[index] = await start();
    }
    await passTime(town.clock, 1_000, 500);
  }
  // Past the time after which what the vendor has forgotten counts as gone.
  await passTime(town.clock, 3_600_000, 5_000);
  const { entries } = await town.ledgerStore.page({}, null, 1_000);
  await Promise.all(running.map(({ videos }) => videos.stop()));
  return { town, vendor, entries, running };
}

const neverEnds = new AbortController().signal;

describe("background responses of an ill vendor, with processes that die and come back", () => {
  test.each([1, 2, 3, 5])(
    "seed %d: one entry for each, with what the vendor counted, and nothing stays held",
    async (seed) => {
      const { town, vendor, entries, running } = await play(seed);
      await using _ = town;
      const made = [...vendor.made.values()];
      expect(made.length).toBe(responsesPerSeed);
      expect(entries.map(({ upstreamId }) => upstreamId).toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      for (const { id, end, tokens } of made) {
        const entry = entries.find(({ upstreamId }) => upstreamId === id);
        const said = [entry?.outcome, entry?.usageSource, entry?.costNanoUsd];
        if (end === "completed") expect(said).toEqual(["succeeded", "upstream", tokens]);
        if (end === "failed") expect(said).toEqual(["failed", "none", 0]);
        if (end === "cancelled") expect(said.slice(0, 2)).toEqual(["cancelled", "estimated"]);
        if (end === "forgotten") expect(said).toEqual(["failed", "estimated", expected.output]);
      }
      for (const { videos, admission } of running) {
        expect([videos.held, admission.outstanding, admission.repeatedEndings]).toEqual([0, 0, 0]);
      }
    },
  );
});
