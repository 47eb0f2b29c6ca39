import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Secret } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { spentUsd } from "../background-fixture.ts";
import { seededRandom } from "../described-bodies.ts";
import { chatRow, clientOf, createBatch } from "../endpoints/batches/batch-client.ts";
import { rowCost } from "../endpoints/batches/batch-gateway.ts";
import { BatchVendor } from "../endpoints/batches/batch-vendor.ts";
import { hintOf, hintSecret, sendHint, signedHint } from "../endpoints/batches/hint-sender.ts";
import { MovedClock } from "../moved-clock.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { onPostgres } from "../postgres-server.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

/** `SLUICE_BATCH_SEEDS=200` plays more seeds. */
const seeds = Number(process.env["SLUICE_BATCH_SEEDS"] ?? 5);
const steps = 18;
const limitUsd = 0.004;
const kinds = ["openai", "anthropic", "gemini"] as const;
const ends = ["answered", "answered", "failed", "left"] as const;

/**
 * Batches at three vendors. Their rows succeed, fail, expire and are canceled, with webhooks, late and lost answers, and restarts of the
 * gateway.
 */
class History {
  readonly vendor = new BatchVendor();
  readonly clock = new MovedClock();
  readonly #random: () => number;
  /** Our ids of the batches, without a prefix, and how each is canceled. */
  readonly created = new Map<string, () => Promise<unknown>>();
  #rows = 3;
  #ends = 0;
  gateway!: StartedGateway;

  readonly #databaseUrl: string | null;
  /** Answers to creations wait for it. */
  #late: PromiseWithResolvers<void> | null = null;

  constructor(seed: number, databaseUrl: string | null) {
    this.#databaseUrl = databaseUrl;
    this.#random = seededRandom(seed);
    this.vendor.endOf = (row) => ends[(row * 7 + seed) % ends.length] ?? "left";
    this.vendor.now = () => this.clock.now();
    this.vendor.beforeAnswer = (method, path) => {
      const isCreation = method === "POST" && /batch(es|GenerateContent)$/.test(path);
      return isCreation ? this.#late?.promise : undefined;
    };
  }

  async start(dataDir?: string): Promise<void> {
    const databaseUrl = this.#databaseUrl;
    this.gateway = await startGateway({
      clock: this.clock,
      environment: {
        ...(dataDir === undefined ? {} : { dataDir }),
        ...(databaseUrl === null
          ? {}
          : { databaseUrl: new Secret(databaseUrl), masterKey: new Secret("k".repeat(43)) }),
      },
      providers: (simulator) =>
        kinds.map((kind) => {
          const base_url = kind === "gemini" ? `${this.vendor.origin}/v1beta` : this.vendor.url;
          const hints = kind === "anthropic" ? {} : { webhook_secret: hintSecret };
          return upstream(kind, simulator, { kind, base_url, settings: { batches: true, ...hints } });
        }),
      models: kinds.map((name) => ({ name, deployments: [{ provider: name }], price: { input: 1, output: 10 } })),
      keys: [{ name: "alice", secret: aliceKey, budget: { usd: limitUsd, period: "total" } }],
    });
  }

  async restart(): Promise<void> {
    const { gateway, simulator, dataDir } = this.gateway;
    await gateway.close();
    simulator.stop();
    await this.start(dataDir);
  }

  async step(): Promise<void> {
    const dice = this.#random();
    const late = this.#late;
    if (dice < 0.4) await this.#create();
    else if (dice < 0.55) this.#endOne();
    else if (dice < 0.65) await this.#cancelOne();
    else if (dice < 0.8) this.vendor.failing = { status: dice < 0.72 ? 503 : 429, created: dice < 0.72 };
    else if (dice < 0.87) await this.restart();
    else if (dice < 0.92) await this.#sendHint();
    else if (dice < 0.96) this.#late ??= Promise.withResolvers();
    else this.clock.move(this.#random() < 0.5 ? 6_000 : 90_000);
    this.clock.move(600);
    if (late !== null) this.#answerAll();
  }

  #answerAll(): void {
    this.#late?.resolve();
    this.#late = null;
  }

  /** Resolves once every batch has ended. */
  async finish(): Promise<void> {
    this.#answerAll();
    const { kysely } = this.gateway.control.database;
    await until(async () => {
      this.vendor.end();
      this.clock.move(20_000);
      return (await kysely.selectFrom("batches").select("id").where("due_at", "is not", null).execute()).length === 0;
    });
  }

  async remove(): Promise<void> {
    await this.gateway.stop();
    rmSync(this.gateway.dataDir, { recursive: true, force: true });
    this.vendor.stop();
  }

  async #create(): Promise<void> {
    // Different numbers, by which a batch is found in Anthropic's list.
    this.#rows += 1 + Math.floor(this.#random() * 4);
    const count = this.#rows;
    const kind = kinds[Math.floor(this.#random() * kinds.length)];
    const texts = Array.from({ length: count }, (_, n) => `prompt ${n}`);
    try {
      if (kind === "openai") {
        const client = clientOf(this.gateway);
        const rows = texts.map((content) =>
          chatRow(content, {}, { model: kind, messages: [{ role: "user", content }] }),
        );
        const { id } = await createBatch(client, rows);
        this.created.set(id.replace("batch_", ""), () => clientOf(this.gateway).batches.cancel(id));
      } else if (kind === "anthropic") {
        const requests = texts.map((content, n) => ({
          ...{ custom_id: `row-${n}` },
          params: { model: kind, max_tokens: 5, messages: [{ role: "user" as const, content }] },
        }));
        const { id } = await this.#anthropic().messages.batches.create({ requests });
        this.created.set(id.replace("msgbatch_", ""), () => this.#anthropic().messages.batches.cancel(id));
      } else {
        const src = texts.map((text) => ({
          contents: [{ role: "user", parts: [{ text }] }],
          config: { maxOutputTokens: 5 },
        }));
        const { name = "" } = await this.#google().batches.create({ model: "gemini", src });
        this.created.set(name.replace("batches/", ""), () => this.#google().batches.cancel({ name }));
      }
    } catch (thrown) {
      const { status, message } = thrown as { readonly status: number; readonly message: string };
      // The budget is used up or held, or the database did not answer in time on a busy machine.
      expect([402, 429, 503], message).toContain(status);
    }
  }

  #anthropic(): Anthropic {
    return new Anthropic({ apiKey: aliceKey, baseURL: this.gateway.url, maxRetries: 0 });
  }

  #google(): GoogleGenAI {
    return new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: this.gateway.url } });
  }

  #endOne(): void {
    const open = this.vendor.batches.filter(({ status }) => status === "in_progress");
    const one = open[Math.floor(this.#random() * open.length)];
    if (one !== undefined) one.status = this.#ends++ % 2 === 0 ? "expired" : "completed";
  }

  /** For any batch of any account, also one that has not ended. */
  async #sendHint(): Promise<void> {
    const { batches } = this.vendor;
    const one = batches[Math.floor(this.#random() * batches.length)];
    const kind = this.#random() < 0.5 ? "openai" : "gemini";
    if (one === undefined) return;
    const event = hintOf(one.id, kind === "openai" ? "batch.completed" : "batch.succeeded");
    expect((await sendHint(this.gateway.url, kind, signedHint(event, { at: this.clock.now() }))).status).toBe(204);
  }

  async #cancelOne(): Promise<void> {
    const all = [...this.created.values()];
    await all[Math.floor(this.#random() * all.length)]?.();
  }
}

const played = new Set<string>();

const title = "budgets equal the ledger, and the ledger equals what the vendors ran, each batch once (seed %d)";
test.each(Array.from({ length: seeds }, (_, n) => n))(title, (seed) => play(seed, null));
await onPostgres("vendors' batches", () => {
  test.each(Array.from({ length: Math.ceil(seeds / 2) }, (_, n) => 1_000 + n))(
    `${title} on PostgreSQL`,
    async (seed) => {
      await using postgres = await openPostgresFixture();
      await play(seed, postgres.url);
    },
  );
});

async function play(seed: number, databaseUrl: string | null): Promise<void> {
  const history = new History(seed, databaseUrl);
  await history.start();
  try {
    for (let n = 0; n < steps; n++) {
      await history.step();
      expect(await spentUsd(history.gateway)).toBeLessThanOrEqual(limitUsd);
    }
    await history.finish();
    const { vendor, gateway, created } = history;
    const entries = await gateway.entries();
    for (const stem of created.keys()) {
      const ran = vendor.batches.filter(({ rows }) => rows[0]?.custom_id.endsWith(stem));
      expect(ran.length).toBeLessThanOrEqual(1);
      const own = entries.filter(({ batchId }) => batchId === `batch_${stem}`);
      const [batch] = ran;
      const of = (wanted: string) => batch?.rows.filter((_, row) => vendor.endOf(row) === wanted).length ?? 0;
      const isGoogles = batch?.rows[0]?.body["model"] === "gemini";
      if (isGoogles && batch?.status !== "completed") {
        // Without results every row is charged as an estimate.
        expect([stem, own.length]).toEqual([stem, batch?.rows.length ?? 0]);
        continue;
      }
      expect([stem, own.filter(({ costNanoUsd }) => costNanoUsd === rowCost / 2).length]).toEqual([
        stem,
        of("answered"),
      ]);
      expect([stem, own.length]).toEqual([stem, of("answered") + of("failed")]);
    }
    for (const { status, rows } of vendor.batches) played.add(`${rows[0]?.body["model"]} ${status}`);
    const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    await until(() => gateway.gateway.outstanding() === 0);
    expect(await spentUsd(gateway)).toBeCloseTo(cost / 1e9, 9);
    expect(cost).toBeLessThanOrEqual(limitUsd * 1e9);
  } finally {
    await history.remove();
  }
}

test("batches of every vendor complete, and some expire or are canceled", () => {
  expect(kinds.filter((kind) => !played.has(`${kind} completed`))).toEqual([]);
  for (const status of ["expired", "cancelled"]) expect([...played].some((one) => one.endsWith(status))).toBe(true);
});
