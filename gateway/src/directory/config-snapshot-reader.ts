import type { CapabilitiesConfig } from "@sluice/contract/config-file";
import {
  type BudgetPolicy,
  type ConfigSnapshot,
  type Deployment,
  defaultTimeouts,
  type Group,
  type Guardrail,
  type Model,
  type ModelPatterns,
  type ModelType,
  membersOf,
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
import { policyOf } from "./budgets/policy-rows.ts";
import { guardrailOf } from "./guardrails/guardrail-rows.ts";
import { importedKeysUntil as readImportedKeysUntil } from "./keys/keys.ts";
import { currentPrices, type ModelPrices } from "./providers/prices.ts";
import { findRows, not } from "./rows.ts";
import { readSettings } from "./settings.ts";

/** Reads the whole configuration in one transaction, with provider secrets decrypted. */
export async function readConfigSnapshot(database: Database, vault: Vault, now: number): Promise<ConfigSnapshot> {
  return await inSnapshot(database, async (snapshot): Promise<ConfigSnapshot> => {
    const settings = await readSettings(snapshot);
    const workspaces = await readWorkspaces(snapshot);
    const providers = await readProviders(snapshot, vault, settings["disconnect.default"]);
    const prices = await currentPrices(snapshot, now);
    const importedKeysUntil = await readImportedKeysUntil(snapshot, now);
    const later = [...prices.values()].flatMap(({ next }) => (next === null ? [] : [next.effective_from]));
    return Object.freeze({
      version: await lastChange({ kysely: snapshot }),
      workspaces,
      groups: await readGroups(snapshot, workspaces),
      providers,
      models: await readModels(snapshot, providers, prices, settings.unpriced),
      settings,
      guardrails: await readGuardrails(snapshot, vault),
      budgetPolicies: await readBudgetPolicies(snapshot),
      ...(later.length === 0 ? {} : { nextPriceAt: Math.min(...later) }),
      ...(importedKeysUntil === null ? {} : { importedKeysUntil }),
    });
  });
}

async function readWorkspaces(connection: Connection): Promise<ReadonlyMap<string, Workspace>> {
  const rows = await findRows(connection, "workspaces", { managed_by: not("suspended") }, "slug");
  const workspace = ({ slug, ...row }: Row<"workspaces">): Workspace =>
    Object.freeze({
      ...grantedIn(row),
      slug,
      scope: limitScope("workspace", row.id, slug, row),
      enabled: row.enabled === 1,
    });
  return new Map(rows.map((row) => [row.id, workspace(row)]));
}

async function readGroups(
  connection: Connection,
  workspaces: ReadonlyMap<string, Workspace>,
): Promise<ReadonlyMap<string, Group>> {
  const rows = await findRows(connection, "groups", { managed_by: not("suspended") }, "name");
  const group = ({ workspace_id: workspaceId, ...row }: Row<"groups">): Group => {
    const scope = limitScope("group", row.id, `${workspaces.get(workspaceId)?.slug}/${row.name}`, row);
    return Object.freeze({ ...grantedIn(row), workspaceId, scope });
  };
  return new Map(rows.map((row) => [row.id, group(row)]));
}

function grantedIn(row: Pick<Row<"workspaces">, "id" | "name" | "models" | "enforce_models" | "pass_through">) {
  const models = patternsOf(row.models);
  return {
    ...{ id: row.id, name: row.name, passThrough: patternsOf(row.pass_through) },
    ...(row.enforce_models === 1 ? { models } : { models: everyModel, shadowModels: models }),
  };
}

const everyModel: ModelPatterns = Object.freeze(["*"]);

async function readProviders(
  connection: Connection,
  vault: Vault,
  disconnect: Provider["disconnect"],
): Promise<ReadonlyMap<string, Provider>> {
  const rows = await findRows(connection, "providers", { managed_by: not("suspended") }, "id");
  return new Map(rows.map((row) => [row.id, providerOf(row, vault, disconnect)]));
}

function providerOf(row: Row<"providers">, vault: Vault, disconnect: Provider["disconnect"]): Provider {
  const timeouts: Partial<Timeouts> = JSON.parse(row.timeouts);
  return Object.freeze({
    id: row.id,
    kind: row.kind,
    baseUrl: row.base_url,
    secret: row.sealed_secret === null ? null : vault.open(row.sealed_secret, sealId(row.id, "secret")),
    allowPrivateNetwork: row.allow_private_network === 1,
    timeouts: Object.freeze({ ...defaultTimeouts, ...timeouts }),
    disconnect: row.disconnect === "drain" || row.disconnect === "cancel" ? row.disconnect : disconnect,
    settings: Object.freeze(openedSettings(row, vault)),
    enabled: row.enabled === 1,
  });
}

async function readModels(
  connection: Connection,
  providers: ReadonlyMap<string, Provider>,
  prices: ReadonlyMap<string, ModelPrices>,
  policy: Settings["unpriced"],
): Promise<ReadonlyMap<string, Model>> {
  const rows = await findRows(connection, "models", { managed_by: not("suspended") }, "name");
  const windows = new Map(rows.map((row) => [row.name, row.context_window]));
  const deployments = await readDeployments(connection, providers, windows);
  const model = (row: Row<"models">): Model => {
    const price = prices.get(row.name)?.current ?? null;
    return Object.freeze({
      name: row.name,
      type: row.type as ModelType,
      ownedBy: row.owned_by,
      createdAt: Math.floor(row.created_at / 1_000),
      deployments: Object.freeze(deployments.get(row.name) ?? []),
      fallbacks: patternsOf(row.fallbacks),
      outputTokensMax: row.max_output_tokens,
      contextWindow: row.context_window,
      price: price === null ? null : priceOf(price),
    });
  };
  const own = rows.map((row) => ({ row, model: model(row) }));
  const models = new Map(own.map(({ row, model }) => [row.name, model]));
  return new Map(own.map(({ row, model }) => [row.name, withoutOwnPrice(model, row.unpriced, { policy, models })]));
}

async function readGuardrails(connection: Connection, vault: Vault): Promise<readonly Guardrail[]> {
  const rows = await findRows(connection, "guardrails", { enabled: 1, managed_by: not("suspended") }, "name", "id");
  return Object.freeze(rows.map((row) => guardrailOf(row, vault)));
}

async function readBudgetPolicies(connection: Connection): Promise<readonly BudgetPolicy[]> {
  const rows = await findRows(
    connection,
    "budget_policies",
    { enabled: 1, managed_by: not("suspended") },
    "name",
    "id",
  );
  return Object.freeze(rows.map(policyOf));
}

async function readDeployments(
  connection: Connection,
  providers: ReadonlyMap<string, Provider>,
  windows: ReadonlyMap<string, number | null>,
): Promise<ReadonlyMap<string, Deployment[]>> {
  const rows = await findRows(connection, "deployments", {}, "priority", "id");
  const deploymentsOf = (row: Row<"deployments">): readonly Deployment[] => {
    const provider = providers.get(row.provider);
    if (provider === undefined) return [];
    const deployment = Object.freeze({
      id: row.id,
      provider,
      upstreamModel: row.upstream_model,
      priority: row.priority,
      weight: row.weight,
      enabled: row.enabled === 1,
      contextWindow: windows.get(row.model) ?? null,
      ...(row.capabilities === null ? {} : { capabilities: Object.freeze(capabilitiesOf(row.capabilities)) }),
    });
    return [deployment];
  };
  const byModel = Map.groupBy(rows, (row) => row.model);
  return new Map([...byModel].map(([model, own]) => [model, own.flatMap(deploymentsOf)]));
}

/** Without capabilities that the config leaves out. */
function capabilitiesOf(text: string): Partial<VideoCapabilities> {
  return membersOf(JSON.parse(text) as CapabilitiesConfig) as Partial<VideoCapabilities>;
}
