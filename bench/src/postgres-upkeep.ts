import { sql } from "kysely";
import { type LedgerEntry, noUsage } from "../../gateway/src/core/index.ts";
import { createLedgerStore, type Database } from "../../gateway/src/storage/index.ts";
import { keyId, workspaceId } from "./console-rows.ts";
import { type Figure, figure } from "./figure.ts";

const dayMs = 86_400_000;
const batchEntries = 500;
const batches = 40;

/** Rolls up every day without a rollup, as after an upgrade. */
export async function summing(database: Database, now: number): Promise<Figure> {
  const store = createLedgerStore(database);
  const samples: number[] = [];
  for (;;) {
    const startedAt = performance.now();
    if ((await store.sumDay(now)) === 0) break;
    samples.push(performance.now() - startedAt);
    console.error(`a day rolled up in ${Math.round(samples.at(-1) ?? 0)} ms`);
  }
  while ((await store.sumHours(now)) > 0);
  for (const table of ["usage_days", "summed_days", "usage_hours", "summed_hours"]) {
    await sql`vacuum (analyze) ${sql.table(table)}`.execute(database.kysely);
  }
  const { rows } = await sql<{ bytes: number }>`
    select (pg_total_relation_size('usage_days') + pg_total_relation_size('usage_hours'))::float8 / pg_total_relation_size('usage_rollups') as bytes`.execute(
    database.kysely,
  );
  return figure("Time to roll up a day", samples, {
    unit: "ms",
    note: `${samples.length} days; ${Math.round((rows[0]?.bytes ?? 0) * 100)} % of the room of the rollups, with sums of hours`,
  });
}

/** Entries per second added to rollups: with 50 keys, with as many keys as entries, and for days that are already rolled up. */
export async function folding(database: Database, now: number): Promise<readonly Figure[]> {
  const store = createLedgerStore(database);
  const figures: Figure[] = [];
  for (const [name, keys, at] of [
    ["few keys", 50, now],
    ["each entry of another key", 20_000, now],
    ["each entry of another key, ten days late", 20_000, now - 10 * dayMs],
  ] as const) {
    const inserts: number[] = [];
    for (let batch = 0; batch < batches; batch++) {
      const entries = Array.from({ length: batchEntries }, (_, n) =>
        entryOf(`${name}_${batch}_${n}`, (batch * batchEntries + n) % keys, at),
      );
      const startedAt = performance.now();
      await store.insert(entries);
      inserts.push(performance.now() - startedAt);
    }
    const startedAt = performance.now();
    while ((await store.fold()) > 0);
    const seconds = (performance.now() - startedAt) / 1_000;
    const inserted = inserts.reduce((all, ms) => all + ms, 0) / 1_000;
    figures.push(
      figure(`Entries rolled up, ${name}`, [(batches * batchEntries) / seconds], {
        unit: "entries/s",
        target: { least: 2_000 },
        note: `inserted by one connection at ${Math.round((batches * batchEntries) / inserted)} entries/s`,
      }),
    );
  }
  return figures;
}

/** Deletes the oldest day, as retention does. */
export async function pruning(database: Database, now: number): Promise<Figure> {
  const startedAt = performance.now();
  const removed = await createLedgerStore(database).prune(now - 29 * dayMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  return figure("Entries deleted", [removed / seconds], {
    unit: "entries/s",
    note: `${removed} entries in ${seconds.toFixed(1)} s`,
  });
}

function entryOf(name: string, key: number, at: number): LedgerEntry {
  return {
    attemptId: `att_fold_${at}_${name}`,
    requestId: `req_fold_${at}_${name}`,
    at,
    endedAt: at + 800,
    workspaceId: workspaceId(key % 20),
    groupId: "grp_bench",
    keyId: keyId(key),
    model: `model-${key % 5}`,
    requestedModel: "model",
    provider: "provider-1",
    deployment: "dep_1",
    upstreamModel: "vendor/model",
    endpoint: "chat",
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: true,
    retryIndex: 0,
    priceVersion: null,
    inputEstimate: 90,
    reservedNanoUsd: 5_000_000,
    userAgent: "openai-python/2",
    tags: {},
    outcome: "succeeded",
    httpStatus: 200,
    errorCode: null,
    usage: { ...noUsage, inputUncached: 100, output: 30 },
    usageSource: "upstream",
    rawUsage: null,
    costNanoUsd: 0,
    totalMs: 800,
    firstByteMs: 120,
    firstTokenMs: 121,
    upstreamMs: 799,
    overheadMs: 0.4,
    startedAfterMs: 0.75,
    upstreamStatus: 200,
    warnings: [],
    upstreamId: null,
  };
}
