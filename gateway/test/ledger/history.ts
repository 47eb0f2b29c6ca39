import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkpoint, type Intent, type LedgerEntry, noUsage, type Settlement, type Usage } from "#core/index.ts";
import type { JournalLeftovers, LedgerStore, LogLevel } from "#ports/index.ts";
import { createLedgerStore, type Database } from "#storage/index.ts";
import { openMigrated } from "../migrated.ts";

/** Attempt `n` of a made-up history. The same number always gives the same attempt. */
export function intentOf(n: number, change: Partial<Intent> = {}): Intent {
  return {
    attemptId: attemptIdOf(n),
    requestId: `req_${String(n).padStart(8, "0")}`,
    at: startMs + n,
    workspaceId: "ws_acme",
    groupId: "grp_default",
    keyId: "key_ci",
    model: "gpt-5",
    requestedModel: "gpt-5",
    provider: "openai-main",
    deployment: "dep_1",
    upstreamModel: "gpt-5-2026",
    endpoint: "chat",
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: n % 2 === 0,
    retryIndex: 0,
    priceVersion: priceId,
    inputEstimate: 40,
    reservedNanoUsd: 90_000,
    userAgent: "Zürich/1.0 🚲",
    startedAfterMs: 1.25,
    tags: n % 3 === 0 ? { team: "röd\n" } : {},
    ...change,
  };
}

export function settlementOf(n: number, change: Partial<Settlement> = {}): Settlement {
  const usage = usageOf(n);
  return {
    attemptId: attemptIdOf(n),
    endedAt: startMs + n + 250,
    outcome: "succeeded",
    httpStatus: 200,
    errorCode: null,
    usage,
    usageSource: "upstream",
    rawUsage: `{"prompt_tokens":${usage.inputUncached}}`,
    costNanoUsd: costOfUsage(usage),
    priceVersion: priceId,
    totalMs: 250.125,
    firstByteMs: 12.5,
    firstTokenMs: 30.25,
    upstreamMs: 240.5,
    overheadMs: 0.375,
    upstreamStatus: 200,
    upstreamId: null,
    ...change,
  };
}

export function entryOf(n: number): LedgerEntry {
  return { ...intentOf(n), ...settlementOf(n) };
}

export function refusalOf(n: number): LedgerEntry {
  const unused = { usage: noUsage, usageSource: "none", rawUsage: null, costNanoUsd: 0, priceVersion: null } as const;
  const ended = settlementOf(n, { outcome: "rejected", httpStatus: 429, errorCode: "rate_limit_exceeded", ...unused });
  return { ...intentOf(n, { provider: "", deployment: "", upstreamModel: "", priceVersion: null }), ...ended };
}

export function checkpointOf(n: number, output: number): Checkpoint {
  return {
    attemptId: attemptIdOf(n),
    at: startMs + n + output,
    usage: { ...noUsage, inputUncached: 40, output },
    usageSource: "estimated",
    firstByteMs: 12.5,
    firstTokenMs: 30.25,
    upstreamId: null,
    priceVersion: priceId,
  };
}

export function attemptIdOf(n: number): string {
  return `att_${String(n).padStart(8, "0")}`;
}

function usageOf(n: number): Usage {
  return { ...noUsage, inputUncached: 100 + (n % 7), output: 20 + (n % 11), reasoning: 5 };
}

const startMs = Date.UTC(2026, 0, 1);
const priceId = "prc_1";
const price = { inputUncached: 1_250_000, output: 10_000_000 };

/** Computed by hand from the price above: pico-USD per token, a thousand to the nano-USD. */
export function costOfUsage(usage: Usage): number {
  return usage.inputUncached * 1_250 + usage.output * 10_000;
}

export interface TestLedger {
  readonly directory: string;
  readonly databasePath: string;
  readonly database: Database;
  readonly store: LedgerStore;
  /** All entries, by attempt id. */
  entries(): Promise<ReadonlyMap<string, LedgerEntry>>;
  remove(): Promise<void>;
}

/** A migrated database with one price and a journal directory, both temporary. */
export async function openTestLedger(): Promise<TestLedger> {
  const home = mkdtempSync(join(tmpdir(), "sluice-ledger-"));
  const databasePath = join(home, "sluice.db");
  const database = await openMigrated(databasePath);
  await database.kysely
    .insertInto("prices")
    .values({ id: priceId, model: "gpt-5", price_table: JSON.stringify(price), effective_from: 0 })
    .execute();
  const store = createLedgerStore(database);
  return {
    directory: join(home, "journal"),
    databasePath,
    database,
    store,
    entries: () => allEntries(store),
    async remove() {
      await database.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function allEntries(store: LedgerStore): Promise<ReadonlyMap<string, LedgerEntry>> {
  const entries = new Map<string, LedgerEntry>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<LedgerStore["page"]>> = await store.page({}, cursor, 1_000);
    for (const entry of page.entries) entries.set(entry.attemptId, entry);
    cursor = page.next;
  } while (cursor !== null);
  return entries;
}

/** Records the journal's log messages for assertions. */
export function listeningObserver(): { readonly lines: string[]; log(level: LogLevel, message: string): void } {
  const lines: string[] = [];
  return { lines, log: (level, message) => void lines.push(`${level} ${message}`) };
}

export async function recordsOf(leftovers: JournalLeftovers): Promise<string[]> {
  const found: string[] = [];
  for await (const { type, value } of leftovers.records()) {
    found.push(`${type} ${type === "check" ? value.checkId : value.attemptId}`);
  }
  return found;
}

export function segmentsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".wal"))
    .sort();
}
