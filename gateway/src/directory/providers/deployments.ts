import type { ModelConfig } from "@sluice/contract/config-file";
import type { DeploymentRecord } from "#ports/index.ts";
import {
  type Connection,
  insertRows,
  putSystemValue,
  type Row,
  removeRows,
  systemValue,
  updateRow,
} from "#storage/tables.ts";
import { findRows, installationObject } from "../rows.ts";
import type { ControlWrite } from "../store.ts";

type DeploymentRow = Row<"deployments">;

const deploymentObject = installationObject("deployments", "id", {
  label: (row) => `deployment ${row.model} at ${row.provider}/${row.upstream_model}`,
  view: (row) => row,
});

/** Creates, updates and deletes the deployments of each model to match its config. */
export async function applyDeployments(context: ControlWrite, models: readonly ModelConfig[]): Promise<void> {
  const { transaction } = context;
  const stored = await findRows(transaction, "deployments", { model: models.map((model) => model.name) });
  const existing = new Map(stored.map((row) => [targetOf(row), row]));
  const removedIds = context.owner === "file" ? await readRemovedIds(transaction) : new Map<string, string>();
  const wanted = models.flatMap(wantedRows).map((row): DeploymentRow => {
    const target = targetOf(row);
    return { ...row, id: existing.get(target)?.id ?? removedIds.get(target) ?? context.ids.next("dep_") };
  });
  const wantedTargets = new Set(wanted.map(targetOf));
  const vanished = stored.filter((row) => !wantedTargets.has(targetOf(row)));
  if (context.owner === "file") await rememberRemovedIds(transaction, vanished);
  await removeRows(context, deploymentObject, vanished);
  await insertRows(
    context,
    deploymentObject,
    wanted.filter((row) => !existing.has(targetOf(row))),
  );
  for (const after of wanted) {
    const before = existing.get(targetOf(after));
    if (before !== undefined) await updateRow(context, deploymentObject, { before, after });
  }
}

export async function removeDeployments(context: ControlWrite, model: string): Promise<void> {
  const rows = await findRows(context.transaction, "deployments", { model });
  await removeRows(context, deploymentObject, rows);
}

/** A stored deployment in the form of the config file. */
export function deploymentDraft({
  id: _id,
  capabilities,
  ...rest
}: DeploymentRecord): ModelConfig["deployments"][number] {
  return { ...rest, ...(capabilities === null ? {} : { capabilities }) };
}

function wantedRows(model: ModelConfig): readonly Omit<DeploymentRow, "id">[] {
  return model.deployments.map((deployment) => ({
    model: model.name,
    provider: deployment.provider,
    upstream_model: deployment.upstream_model ?? model.name,
    priority: deployment.priority ?? 1,
    weight: deployment.weight ?? 100,
    enabled: deployment.enabled === false ? 0 : 1,
    capabilities: deployment.capabilities === undefined ? null : JSON.stringify(deployment.capabilities),
  }));
}

/** Ids of deployments that the file no longer declares, by target. The oldest is dropped first. */
const removedIdsName = "config-file.deployments";
const removedIdsMax = 1_000;

async function readRemovedIds(transaction: Connection): Promise<ReadonlyMap<string, string>> {
  const value = await systemValue(transaction, removedIdsName);
  return new Map(value === null ? [] : (JSON.parse(value) as [string, string][]));
}

/** A deployment that the file removes and declares again keeps its id, and so its metrics, breaker and history. */
async function rememberRemovedIds(transaction: Connection, vanished: readonly DeploymentRow[]): Promise<void> {
  if (vanished.length === 0) return;
  const ids = [...(await readRemovedIds(transaction)), ...vanished.map((row) => [targetOf(row), row.id] as const)];
  await putSystemValue(transaction, removedIdsName, JSON.stringify([...new Map(ids)].slice(-removedIdsMax)));
}

function targetOf(row: Omit<DeploymentRow, "id">): string {
  return JSON.stringify([row.model, row.provider, row.upstream_model]);
}
