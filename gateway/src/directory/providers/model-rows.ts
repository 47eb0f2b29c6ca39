import type { ModelType } from "#core/index.ts";
import type { DeploymentRecord, ModelRecord } from "#ports/index.ts";
import { type Connection, priceOf, type Row } from "#storage/tables.ts";
import { type ModelPrices, noPrices, pricesInForce } from "./price-in-force.ts";

/** Every model with its deployments and prices, by name. `now` is Unix milliseconds. */
export async function modelRecords(connection: Connection, now: number): Promise<readonly ModelRecord[]> {
  const rows = await connection.selectFrom("models").selectAll().orderBy("name").execute();
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const prices = await pricesInForce(connection, now);
  const byModel = Map.groupBy(deployments, (row) => row.model);
  return rows.map((row) => recordOf(row, byModel.get(row.name) ?? [], prices.get(row.name)));
}

export async function modelRecord(connection: Connection, name: string, now: number): Promise<ModelRecord | null> {
  const row = await connection.selectFrom("models").selectAll().where("name", "=", name).executeTakeFirst();
  if (row === undefined) return null;
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .where("model", "=", name)
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const prices = await pricesInForce(connection, now, name);
  return recordOf(row, deployments, prices.get(name));
}

function recordOf(
  row: Row<"models">,
  deployments: readonly Row<"deployments">[],
  { inForce, next }: ModelPrices = noPrices,
): ModelRecord {
  return {
    name: row.name,
    type: row.type as ModelType,
    ownedBy: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    outputTokensMax: row.max_output_tokens,
    contextWindow: row.context_window,
    unpriced: row.unpriced as ModelRecord["unpriced"],
    price: inForce === null ? null : priceOf(inForce),
    nextPrice: next === null ? null : priceOf(next),
    deployments: deployments.map(deploymentOf),
    managedBy: row.managed_by,
    createdAt: row.created_at,
  };
}

function deploymentOf(row: Row<"deployments">): DeploymentRecord {
  return {
    id: row.id,
    provider: row.provider,
    upstreamModel: row.upstream_model,
    priority: row.priority,
    weight: row.weight,
    enabled: row.enabled === 1,
    capabilities: row.capabilities === null ? null : JSON.parse(row.capabilities),
  };
}
