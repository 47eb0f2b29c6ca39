import type { CapabilitiesConfig } from "@sluice/contract/config-file";
import {
  type ConfigSnapshot,
  type Deployment,
  defaultTimeouts,
  type Group,
  type Model,
  type ModelType,
  type Provider,
  type Settings,
  type Timeouts,
  type VideoCapabilities,
  type Workspace,
  withoutOwnPrice,
} from "#core/index.ts";
import type { Vault } from "#ports/index.ts";
import {
  type Connection,
  type Database,
  inSnapshot,
  lastChange,
  limitScope,
  openedSettings,
  patternsOf,
  priceOf,
  type Row,
  sealId,
} from "#storage/tables.ts";
import { type ModelPrices, pricesInForce } from "./providers/model-rows.ts";
import { readSettings, type StoredSettings } from "./settings.ts";

/** Everything of one moment, with provider secrets opened. */
export async function readConfigSnapshot(database: Database, vault: Vault, now: number): Promise<ConfigSnapshot> {
  return await inSnapshot(database, async (snapshot): Promise<ConfigSnapshot> => {
    const stored = await readSettings(snapshot);
    const workspaces = await readWorkspaces(snapshot);
    const providers = await readProviders(snapshot, vault, stored);
    const prices = await pricesInForce(snapshot, now);
    const later = [...prices.values()].flatMap(({ next }) => (next === null ? [] : [next.effective_from]));
    return Object.freeze({
      version: await lastChange({ kysely: snapshot }),
      workspaces,
      groups: await readGroups(snapshot, workspaces),
      providers,
      models: await readModels(snapshot, { providers, prices, policy: stored.settings.unpriced }),
      settings: stored.settings,
      ...(later.length === 0 ? {} : { nextPriceAt: Math.min(...later) }),
    });
  });
}

async function readWorkspaces(connection: Connection): Promise<ReadonlyMap<string, Workspace>> {
  const rows = await connection
    .selectFrom("workspaces")
    .selectAll()
    .where("managed_by", "!=", "suspended")
    .orderBy("slug")
    .execute();
  const workspace = (row: Row<"workspaces">): Workspace =>
    Object.freeze({
      id: row.id,
      slug: row.slug,
      name: row.name,
      models: patternsOf(row.models),
      passThrough: patternsOf(row.pass_through),
      scope: limitScope("workspace", row.id, row.slug, row),
      enabled: row.enabled === 1,
    });
  return new Map(rows.map((row) => [row.id, workspace(row)]));
}

async function readGroups(
  connection: Connection,
  workspaces: ReadonlyMap<string, Workspace>,
): Promise<ReadonlyMap<string, Group>> {
  const rows = await connection
    .selectFrom("groups")
    .selectAll()
    .where("managed_by", "!=", "suspended")
    .orderBy("name")
    .execute();
  const group = (row: Row<"groups">): Group =>
    Object.freeze({
      id: row.id,
      workspaceId: row.workspace_id,
      name: row.name,
      models: patternsOf(row.models),
      passThrough: patternsOf(row.pass_through),
      scope: limitScope("group", row.id, `${workspaces.get(row.workspace_id)?.slug}/${row.name}`, row),
    });
  return new Map(rows.map((row) => [row.id, group(row)]));
}

async function readProviders(
  connection: Connection,
  vault: Vault,
  stored: StoredSettings,
): Promise<ReadonlyMap<string, Provider>> {
  const rows = await connection
    .selectFrom("providers")
    .selectAll()
    .where("managed_by", "!=", "suspended")
    .orderBy("id")
    .execute();
  return new Map(rows.map((row) => [row.id, providerOf(row, vault, stored)]));
}

function providerOf(row: Row<"providers">, vault: Vault, stored: StoredSettings): Provider {
  const timeouts: Partial<Timeouts> = JSON.parse(row.timeouts);
  return Object.freeze({
    id: row.id,
    kind: row.kind,
    baseUrl: row.base_url,
    secret: row.sealed_secret === null ? null : vault.open(row.sealed_secret, sealId(row.id, "secret")),
    allowPrivateNetwork: row.allow_private_network === 1,
    timeouts: Object.freeze({ ...defaultTimeouts, ...timeouts }),
    disconnect: row.disconnect === "drain" || row.disconnect === "cancel" ? row.disconnect : stored.disconnectDefault,
    settings: Object.freeze(openedSettings(row, vault)),
    enabled: row.enabled === 1,
  });
}

interface ModelParts {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly prices: ReadonlyMap<string, ModelPrices>;
  readonly policy: Settings["unpriced"];
}

async function readModels(
  connection: Connection,
  { providers, prices, policy }: ModelParts,
): Promise<ReadonlyMap<string, Model>> {
  const rows = await connection
    .selectFrom("models")
    .selectAll()
    .where("managed_by", "!=", "suspended")
    .orderBy("name")
    .execute();
  const windows = new Map(rows.map((row) => [row.name, row.context_window]));
  const deployments = await readDeployments(connection, providers, windows);
  const priceIn = (row: Row<"prices"> | null | undefined) => (row == null ? null : priceOf(row));
  const model = (row: Row<"models">): Model =>
    Object.freeze({
      name: row.name,
      type: row.type as ModelType,
      ownedBy: row.owned_by,
      createdAt: Math.floor(row.created_at / 1_000),
      deployments: Object.freeze(deployments.get(row.name) ?? []),
      fallbacks: patternsOf(row.fallbacks),
      outputTokensMax: row.max_output_tokens,
      contextWindow: row.context_window,
      price: priceIn(prices.get(row.name)?.inForce),
    });
  const own = new Map(rows.map((row) => [row.name, model(row)]));
  return new Map(rows.map((row) => [row.name, chargedModel(own, row, policy)]));
}

/** A model with what becomes of it while it has no price of its own. */
function chargedModel(own: ReadonlyMap<string, Model>, row: Row<"models">, policy: Settings["unpriced"]): Model {
  const model = own.get(row.name);
  if (model === undefined) throw new Error(`The model ${row.name} was not read.`);
  return withoutOwnPrice(model, row.unpriced, { policy, models: own });
}

async function readDeployments(
  connection: Connection,
  providers: ReadonlyMap<string, Provider>,
  windows: ReadonlyMap<string, number | null>,
): Promise<ReadonlyMap<string, Deployment[]>> {
  const rows = await connection.selectFrom("deployments").selectAll().orderBy("priority").orderBy("id").execute();
  const byModel = new Map<string, Deployment[]>();
  for (const row of rows) {
    const provider = providers.get(row.provider);
    if (provider === undefined) continue;
    const deployment: Deployment = Object.freeze({
      id: row.id,
      provider,
      upstreamModel: row.upstream_model,
      priority: row.priority,
      weight: row.weight,
      enabled: row.enabled === 1,
      contextWindow: windows.get(row.model) ?? null,
      ...(row.capabilities === null ? {} : { capabilities: capabilitiesOf(row.capabilities) }),
    });
    const list = byModel.get(row.model);
    if (list === undefined) byModel.set(row.model, [deployment]);
    else list.push(deployment);
  }
  return byModel;
}

/** From the file's words to ours. */
function capabilitiesOf(text: string): Partial<VideoCapabilities> {
  const said: CapabilitiesConfig = JSON.parse(text);
  const entries = {
    ratios: said.ratios,
    resolutions: said.resolutions,
    durations: said.durations,
    durationMin: said.duration_min,
    durationMax: said.duration_max,
    audio: said.audio,
    firstFrame: said.first_frame,
    lastFrame: said.last_frame,
    referencesMax: said.references_max,
    seed: said.seed,
  };
  return Object.freeze(Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)));
}
