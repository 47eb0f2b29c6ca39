import type { ConfigFile } from "@sluice/contract";
import { type LedgerEntry, noUsage, Secret } from "#core/index.ts";
import type { ControlStore, NewKey } from "#directory/index.ts";
import type { ApplyReport, AuditSource, LedgerStore, Observer, Vault } from "#ports/index.ts";
import type { ChangeFeed, Database } from "#storage/index.ts";
import type { FakeClock } from "../fake-clock.ts";

/** A new, migrated database with every store. Tests use `database` to inspect and to damage it. */
export interface StoreFixture extends AsyncDisposable {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: FakeClock;
  readonly controlStore: ControlStore;
  readonly ledgerStore: LedgerStore;
  readonly changeFeed: ChangeFeed;
}

/** The texts of what `apply` did. */
export function texts(report: ApplyReport): readonly string[] {
  return report.map(({ text }) => text);
}

export type StoreFixtureFactory = () => Promise<StoreFixture>;

/** The provider types in these suites: one with a default address and one without. */
export function kindDefaults(kind: string): { baseUrl: string | null } | null {
  if (kind === "openai") return { baseUrl: "https://api.openai.com/v1" };
  return kind === "openai-compatible" ? { baseUrl: null } : null;
}

export const silentObserver: Observer = {
  log: () => undefined,
  attemptEnd: () => undefined,
  requestEnd: () => undefined,
  breakerChange: () => undefined,
  configReload: () => undefined,
};

export const ciSecret = "a-secret-of-the-ci-key-that-nobody-knows";

/** A config with one of everything. */
export const acmeConfig: ConfigFile = {
  providers: [
    {
      id: "openai-main",
      kind: "openai",
      api_key: "upstream-canary-secret",
      timeouts: { connect_ms: 1_234 },
      settings: { secret_access_key: "settings-canary-secret", region: "eu" },
    },
    { id: "spare", kind: "openai-compatible", base_url: "http://10.0.0.7:8000/v1", allow_private_network: true },
  ],
  models: [
    {
      name: "gpt-5",
      deployments: [{ provider: "spare", upstream_model: "gpt", priority: 2 }, { provider: "openai-main" }],
      price: { input: 1.25, cache_read: 0.125, output: 10 },
      fallbacks: ["gpt-5-mini"],
    },
    { name: "gpt-5-mini", deployments: [{ provider: "openai-main", weight: 7 }] },
  ],
  workspaces: [
    {
      slug: "acme",
      name: "Acme",
      budget: { usd: 500, period: "month" },
      groups: [
        { name: "default", models: ["gpt-*"], limits: { rpm: 600, fail: "open" } },
        { name: "batch", limits: { concurrency: 2 } },
      ],
      keys: [
        { name: "ci", secret: ciSecret, limits: { rpm: 60 }, tags: { team: "build" }, allowed_ips: ["10.0.0.0/8"] },
        { name: "later", group: "batch" },
      ],
    },
  ],
  settings: { ledger: { durability: "strict", retention_days: 30 }, disconnect: { default: "drain" } },
};

/** `Date.UTC(2026, 0, 1)`, when the clock of these tests starts. */
export const newYear = Date.UTC(2026, 0, 1);

export function ledgerEntry(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  const at = changes.at ?? newYear;
  return {
    attemptId: `att_${name}`,
    requestId: `req_${name}`,
    at,
    endedAt: at + 800,
    workspaceId: "ws_1",
    groupId: "grp_1",
    keyId: "key_1",
    model: "gpt-5",
    requestedModel: "gpt-5",
    provider: "openai-main",
    deployment: "dep_1",
    upstreamModel: "gpt-5-2026",
    endpoint: "chat",
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: true,
    retryIndex: 0,
    priceVersion: "prc_unknown",
    inputEstimate: 90,
    reservedNanoUsd: 5_000_000,
    userAgent: "openai-python/2",
    tags: {},
    outcome: "succeeded",
    httpStatus: 200,
    errorCode: null,
    usage: { ...noUsage, inputUncached: 100, cacheRead: 20, output: 30, reasoning: 10 },
    usageSource: "upstream",
    rawUsage: '{"prompt_tokens":120}',
    costNanoUsd: 427_500,
    totalMs: 800.25,
    firstByteMs: 120.5,
    firstTokenMs: 121.125,
    upstreamMs: 799.5,
    overheadMs: 0.4,
    startedAfterMs: 0.75,
    upstreamStatus: 200,
    warnings: ["seed was left out", "blocks of type x; left out"],
    upstreamId: null,
    ...changes,
  };
}

/** The entry of a rejected call. */
export function refusedEntry(name: string, changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntry(name, {
    provider: "",
    deployment: "",
    upstreamModel: "",
    priceVersion: null,
    reservedNanoUsd: 0,
    outcome: "rejected",
    httpStatus: 429,
    errorCode: "rate_limit_exceeded",
    usage: noUsage,
    usageSource: "none",
    rawUsage: null,
    costNanoUsd: 0,
    firstByteMs: null,
    firstTokenMs: null,
    upstreamMs: null,
    overheadMs: null,
    upstreamStatus: null,
    upstreamId: null,
    ...changes,
  });
}

/** Every value of every row of every table, as text. */
export async function wholeText(database: Database): Promise<string> {
  const tables = await database.kysely.introspection.getTables();
  const parts: string[] = [];
  for (const table of tables) {
    const rows = await database.kysely
      .withTables<Record<string, Record<string, unknown>>>()
      .selectFrom(table.name)
      .selectAll()
      .execute();
    parts.push(table.name, JSON.stringify(rows));
  }
  return parts.join("\n");
}

/** acmeConfig with changes to its workspace. */
export const acmeWith = (changes: object): ConfigFile => ({
  ...acmeConfig,
  workspaces: (acmeConfig.workspaces ?? []).map((workspace) => ({ ...workspace, ...changes })),
});

/** A key to create in the workspace with this slug. */
export type FixtureKey = NewKey & { readonly workspace: string };

/** A key as the command line creates it, in the workspace acme. */
export const newKey = (name: string, changes: Partial<FixtureKey> = {}): FixtureKey => ({
  workspace: "acme",
  name,
  secret: new Secret(`sk-sluice-${name}-0123456789abcdefghijklmnopqrstuvwxyz`),
  createdBy: null,
  ...changes,
});

/** The audit source of an actor without an address. */
export const by = (actor: string): AuditSource => ({ actor, ip: null });

type WithControl = Pick<StoreFixture, "controlStore">;

export async function makeKey({ controlStore }: WithControl, { workspace, ...key }: FixtureKey, actor: string) {
  const place = await controlStore.workspaceNamed(workspace);
  return await controlStore.addKey(place?.id ?? "ws_none", key, by(actor));
}

/** Returns null if there is no such key. */
export async function revokeKey({ controlStore }: WithControl, idOrPrefix: string, actor: string) {
  const key = await controlStore.resolveKey(idOrPrefix);
  return key === null ? null : await controlStore.revokeKey(key.workspace.id, key.id, by(actor));
}

/** The keys of a workspace, by its slug. */
export async function keysIn({ controlStore }: WithControl, slug: string) {
  const place = await controlStore.workspaceNamed(slug);
  return place === null ? [] : await controlStore.listKeys(place.id);
}

export async function allWorkspaces({ controlStore }: WithControl) {
  return (await controlStore.workspaces({ ids: null }, null, 200)).data;
}

export const findKey = (fixture: StoreFixture, secret: string) =>
  fixture.controlStore.find(fixture.vault.digest(secret));
