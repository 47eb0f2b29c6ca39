import { createHash } from "node:crypto";
import type { ModelConfig } from "@sluice/contract/config-file";
import { type AuditedObject, insertRows, removeRows, updateRow } from "../../changes/audited-rows.ts";
import type { Row } from "../../database/schema.ts";
import type { ApplyContext } from "../control-options.ts";

type DeploymentRow = Row<"deployments">;

/** Deployments as every writer writes them. They belong to their model, and whoever owns that owns them. */
const deploymentObject: AuditedObject<"deployments"> = {
  table: "deployments",
  idColumn: "id",
  label: (row) => `deployment ${row.model} at ${row.provider}/${row.upstream_model}`,
  view: (row) => row,
  workspaceOf: () => null,
  notify: (log) => log.catalogChanged(),
};

/** Of more models than this all deployments are read. */
const namedMax = 100;

/** Deployments belong to their model: those of the file's models become what the file says. */
export async function applyDeployments(context: ApplyContext, models: readonly ModelConfig[]): Promise<void> {
  const { transaction } = context;
  const existing = new Map<string, DeploymentRow>();
  const names = new Set(models.map((model) => model.name));
  if (names.size === 0) return;
  let stored = transaction.selectFrom("deployments").selectAll();
  if (names.size <= namedMax) stored = stored.where("model", "in", [...names]);
  for (const row of await stored.execute()) existing.set(targetOf(row), row);
  const create: DeploymentRow[] = [];
  const update: { before: DeploymentRow; after: DeploymentRow }[] = [];
  const kept = new Set<string>();
  for (const row of models.flatMap((model) => wantedRows(model))) {
    const before = existing.get(targetOf(row));
    kept.add(targetOf(row));
    if (before === undefined) create.push({ ...row, id: deploymentId(row) });
    else if (differs(before, row)) update.push({ before, after: { ...row, id: before.id } });
  }
  const vanished = [...existing.values()].filter((row) => names.has(row.model) && !kept.has(targetOf(row)));
  await removeRows(context, deploymentObject, vanished);
  await insertRows(context, deploymentObject, create);
  for (const change of update) await updateRow(context, deploymentObject, change);
}

export async function removeDeployments(context: ApplyContext, model: string): Promise<void> {
  const rows = await context.transaction.selectFrom("deployments").selectAll().where("model", "=", model).execute();
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

function differs(a: Omit<DeploymentRow, "id">, b: Omit<DeploymentRow, "id">): boolean {
  return (
    a.priority !== b.priority || a.weight !== b.weight || a.enabled !== b.enabled || a.capabilities !== b.capabilities
  );
}

/** The same for the same target, so that a deployment that is taken out and put back keeps its metrics and its circuit. */
function deploymentId(row: Omit<DeploymentRow, "id">): string {
  return `dep_${createHash("sha256").update(targetOf(row)).digest("hex").slice(0, 26)}`;
}

function targetOf(row: Omit<DeploymentRow, "id">): string {
  return JSON.stringify([row.model, row.provider, row.upstream_model]);
}
