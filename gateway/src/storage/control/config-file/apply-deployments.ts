import type { ModelConfig } from "@sluice/contract/config-file";
import { chunksOf } from "../../database/reconcile.ts";
import type { Row } from "../../database/schema.ts";
import type { ApplyContext } from "./apply-context.ts";

type DeploymentRow = Row<"deployments">;

/** Of more models than this all deployments are read. */
const namedMax = 100;

/** Deployments belong to their model: those of the file's models become what the file says. */
export async function applyDeployments(context: ApplyContext, models: readonly ModelConfig[]): Promise<void> {
  const { transaction, log } = context;
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
    if (before === undefined) create.push({ ...row, id: context.ids.next("dep_") });
    else if (differs(before, row)) update.push({ before, after: { ...row, id: before.id } });
  }
  const vanished = [...existing.values()].filter((row) => names.has(row.model) && !kept.has(targetOf(row)));
  await removeRows(context, vanished);
  for (const chunk of chunksOf(create))
    await transaction
      .insertInto("deployments")
      .values([...chunk])
      .execute();
  for (const row of create) log.record("create", label(row), null, row);
  for (const { before, after } of update) {
    await transaction.updateTable("deployments").set(after).where("id", "=", after.id).execute();
    log.record("update", label(after), before, after);
  }
  if (create.length + update.length > 0) log.catalogChanged();
}

export async function removeDeployments(context: ApplyContext, model: string): Promise<void> {
  const rows = await context.transaction.selectFrom("deployments").selectAll().where("model", "=", model).execute();
  await removeRows(context, rows);
}

async function removeRows(context: ApplyContext, rows: readonly DeploymentRow[]): Promise<void> {
  for (const row of rows) {
    await context.transaction.deleteFrom("deployments").where("id", "=", row.id).execute();
    context.log.record("remove", label(row), row, null);
    context.log.catalogChanged();
  }
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

function targetOf(row: Omit<DeploymentRow, "id">): string {
  return JSON.stringify([row.model, row.provider, row.upstream_model]);
}

function label(row: DeploymentRow): string {
  return `deployment ${row.model} at ${row.provider}/${row.upstream_model}`;
}
