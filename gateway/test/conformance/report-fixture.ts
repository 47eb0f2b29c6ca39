import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cacheSavingsOf, costOf, type LedgerEntry, noUsage, type Outcome } from "#core/index.ts";
import { createControlStore } from "#directory/index.ts";
import type { LedgerStore, ReportStore } from "#ports/index.ts";
import { createLedgerStore, createReportStore, type Database, openVault } from "#storage/index.ts";
import { createIds } from "#system/index.ts";
import { postgresReports } from "../../src/storage/reports/postgres-reports.ts";
import { reportStoreOf } from "../../src/storage/reports/report-store.ts";
import { FakeClock } from "../fake-clock.ts";
import { openMigrated } from "../migrated.ts";
import { openPostgresFixture } from "../postgres-fixture.ts";
import { acmeConfig, kindDefaults, ledgerEntry, newYear, silentObserver } from "./store-fixture.ts";

/** Two workspaces with calls of three days, as the ledger store wrote them. */
export interface ReportFixture extends AsyncDisposable {
  readonly database: Database;
  readonly clock: FakeClock;
  readonly ledgerStore: LedgerStore;
  readonly reports: ReportStore;
  readonly entries: readonly LedgerEntry[];
  /** The ids of the file's objects, and `key_gone` for a deleted key. */
  readonly acme: Place;
  readonly beta: Place;
}

/** Reports on a database file. */
interface FileReportFixture extends ReportFixture {
  readonly databasePath: string;
}

interface Place {
  readonly id: string;
  readonly groups: readonly string[];
  readonly keys: readonly string[];
}

const config = {
  ...acmeConfig,
  workspaces: [
    ...(acmeConfig.workspaces ?? []),
    { slug: "beta", name: "Beta", groups: [{ name: "default" }], keys: [{ name: "ci", group: "default" }] },
  ],
};

const spanMs = 3 * 86_400_000;

export async function openReportFixture(count: number): Promise<FileReportFixture> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-reports-"));
  const databasePath = join(directory, "sluice.db");
  const database = await openMigrated(databasePath);
  const fixture = await fillReports(database, directory, count, ({ clock }) =>
    createReportStore({ databasePath, clock, observer: silentObserver }),
  );
  return {
    ...fixture,
    databasePath,
    async [Symbol.asyncDispose]() {
      await fixture.reports.close();
      await database.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Opens the same reports on PostgreSQL. */
export async function openPostgresReportFixture(count: number): Promise<ReportFixture> {
  const postgres = await openPostgresFixture();
  const directory = mkdtempSync(join(tmpdir(), "sluice-reports-"));
  const { database } = postgres;
  const fixture = await fillReports(database, directory, count, () =>
    reportStoreOf(postgresReports({ database, observer: silentObserver })),
  );
  return {
    ...fixture,
    async [Symbol.asyncDispose]() {
      await fixture.reports.close();
      await postgres[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** How often a property runs. The same code builds the queries for both databases, and PostgreSQL takes several times as long. */
export const runsOn = (name: string, numRuns: number): number =>
  name === "postgres" ? Math.ceil(numRuns / 3) : numRuns;

type Filled = Omit<ReportFixture, typeof Symbol.asyncDispose>;

async function fillReports(
  database: Database,
  dataDir: string,
  count: number,
  storeOn: (fixture: { readonly clock: FakeClock }) => ReportStore,
): Promise<Filled> {
  const clock = new FakeClock(newYear);
  const vault = openVault({ masterKey: null, dataDir });
  const controlStore = createControlStore({ database, vault, clock, ids: createIds(clock), kindDefaults });
  await controlStore.apply(config, "test");
  const [acme, beta] = await Promise.all(["acme", "beta"].map((slug) => placeNamed(database, slug)));
  if (acme === undefined || beta === undefined) throw new Error("the file must declare both workspaces");
  const price = (await controlStore.configSnapshot()).models.get("gpt-5")?.price ?? null;
  const entries = Array.from({ length: count }, (_, n) => {
    const entry = entryNumber(n, count, n % 4 === 0 ? beta : acme);
    if (entry.outcome === "rejected" || price === null) return entry;
    const own = costOf(price.table, entry.usage);
    const cacheSavedNanoUsd = cacheSavingsOf(price.table, entry.usage, own);
    const priced = { ...entry, priceVersion: price.id, costNanoUsd: own, cacheSavedNanoUsd };
    const vendorCostNanoUsd = 1 + n * 1_000;
    if (n % 8 === 1) return { ...priced, vendorCostNanoUsd };
    if (n % 8 !== 4) return priced;
    const vendorCosts = { costSource: "vendor", costNanoUsd: vendorCostNanoUsd, vendorCostNanoUsd } as const;
    return n % 16 === 4 ? { ...entry, ...vendorCosts } : { ...priced, ...vendorCosts, ownCostNanoUsd: own };
  });
  const ledgerStore = createLedgerStore(database);
  await ledgerStore.insert(entries);
  return { database, clock, ledgerStore, reports: storeOn({ clock }), entries, acme, beta };
}

async function placeNamed({ kysely }: Database, slug: string): Promise<Place> {
  const { id } = await kysely.selectFrom("workspaces").select("id").where("slug", "=", slug).executeTakeFirstOrThrow();
  const groups = await kysely
    .selectFrom("groups")
    .select("id")
    .where("workspace_id", "=", id)
    .orderBy("name")
    .execute();
  const keys = await kysely
    .selectFrom("api_keys")
    .select("id")
    .where("workspace_id", "=", id)
    .orderBy("name")
    .execute();
  return { id, groups: groups.map((row) => row.id), keys: [...keys.map((row) => row.id), "key_gone"] };
}

const userAgents = ["claude-cli/2.1 (external)", "OpenAI/Python 1.9", "our-own/1", "", "Mozilla/5.0 (X11)"];
const outcomes: readonly Outcome[] = ["succeeded", "succeeded", "succeeded", "failed", "cancelled", "rejected"];

/**
 * Varies each property at its own rate, so that any two values meet in some entry. Some entries share a millisecond.
 */
function entryNumber(n: number, count: number, place: Place): LedgerEntry {
  const outcome = outcomes[Math.floor(n / 7) % outcomes.length] ?? "succeeded";
  const rejected = outcome === "rejected";
  const at = newYear + Math.floor(((n >> 1) * spanMs) / count) * 2;
  const totalMs = 20 * 2 ** ((n * 7) % 15);
  return ledgerEntry(String(n).padStart(5, "0"), {
    at,
    endedAt: at + Math.round(totalMs),
    requestId: `req_${String(n - (n % 3 === 2 ? 1 : 0)).padStart(5, "0")}`,
    retryIndex: n % 3 === 2 ? 1 : 0,
    workspaceId: place.id,
    groupId: place.groups[n % place.groups.length] ?? "",
    keyId: place.keys[n % place.keys.length] ?? "",
    // Keys change their owners all the time, even within an hour.
    ...(n % 5 === 0 ? {} : { personId: `usr_${n % 4}` }),
    ...(n % 4 === 1
      ? {}
      : {
          tags: { team: `t${n % 3}`, ...(n % 5 === 2 ? { run: `r${n}` } : {}) },
          session: `s${n % 7}`,
          sessionSource: "agent",
        }),
    userAgent: userAgents[n % userAgents.length] ?? "",
    model: `m${n % 13}`,
    requestedModel: "gpt-5",
    provider: rejected ? "" : `p${n % 3}`,
    deployment: rejected ? "" : `d${n % 6}`,
    endpoint: n % 5 === 0 ? "messages" : "chat",
    outcome,
    httpStatus: outcome === "succeeded" ? 200 : 400 + (n % 3),
    errorCode: outcome === "succeeded" ? null : `e${n % 4}`,
    usage: rejected ? noUsage : { ...noUsage, inputUncached: n, cacheRead: n % 4, output: 3 * n, videoSeconds: n % 2 },
    usageSource: rejected ? "none" : "upstream",
    priceVersion: null,
    costNanoUsd: 0,
    totalMs,
    startedAfterMs: n % 11 === 0 ? 0 : (n % 3) * 700 + 1,
    firstTokenMs: n % 2 === 0 ? totalMs / 3 : null,
    upstreamId: n % 10 === 0 ? `resp_${String(n).padStart(5, "0")}` : null,
  });
}
