import type { ModelConfig } from "@sluice/contract/config-file";
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

/** Deployments as every writer writes them. They belong to their model, and whoever owns that owns them. */
const deploymentObject = installationObject("deployments", "id", {
  label: (row) => `deployment ${row.model} at ${row.provider}/${row.upstream_model}`,
  view: (row) => row,
});

/** Deployments belong to their model: those of the file's models become what the file says. */
export async function applyDeployments(context: ControlWrite, models: readonly ModelConfig[]): Promise<void> {
  const { transaction } = context;
  const stored = await findRows(transaction, "deployments", { model: models.map((model) => model.name) });
  const existing = new Map(stored.map((row) => [targetOf(row), row]));
  const left = context.owner === "file" ? await readLeft(transaction) : new Map<string, string>();
  const wanted = models.flatMap(wantedRows).map((row): DeploymentRow => {
    const target = targetOf(row);
    return { ...row, id: existing.get(target)?.id ?? left.get(target) ?? context.ids.next("dep_") };
  });
  const kept = new Set(wanted.map(targetOf));
  const vanished = stored.filter((row) => !kept.has(targetOf(row)));
  if (context.owner === "file") await rememberLeft(transaction, vanished);
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

/** Ids of deployments that the file took out, by target. */
const leftName = "config-file.deployments";

/** Deployments that are remembered; the oldest is forgotten first. */
const leftMax = 1_000;

async function readLeft(transaction: Connection): Promise<ReadonlyMap<string, string>> {
  const value = await systemValue(transaction, leftName);
  return new Map(value === null ? [] : (JSON.parse(value) as [string, string][]));
}

/** One that the file takes out and puts back keeps its id, and with it its metrics, its circuit and its history. */
async function rememberLeft(transaction: Connection, vanished: readonly DeploymentRow[]): Promise<void> {
  if (vanished.length === 0) return;
  const left = [...(await readLeft(transaction)), ...vanished.map((row) => [targetOf(row), row.id] as const)];
  await putSystemValue(transaction, leftName, JSON.stringify([...new Map(left)].slice(-leftMax)));
}

function targetOf(row: Omit<DeploymentRow, "id">): string {
  return JSON.stringify([row.model, row.provider, row.upstream_model]);
}
