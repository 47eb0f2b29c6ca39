import type { ModelType } from "#core/index.ts";
import type { DeploymentRecord, ModelRecord } from "#ports/index.ts";
import type { Connection } from "../../database/database.ts";
import { priceOf } from "../../database/price-rows.ts";
import type { Row } from "../../database/schema.ts";

/** Every model with its deployments and the price in force, by name. */
export async function modelRecords(connection: Connection): Promise<readonly ModelRecord[]> {
  const rows = await connection.selectFrom("models").selectAll().orderBy("name").execute();
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const prices = await connection
    .selectFrom("prices")
    .innerJoin("models", "models.price_version", "prices.id")
    .selectAll("prices")
    .execute();
  const byModel = Map.groupBy(deployments, (row) => row.model);
  const byId = new Map(prices.map((row) => [row.id, row]));
  return rows.map((row) => recordOf(row, byModel.get(row.name) ?? [], byId.get(row.price_version ?? "")));
}

export async function modelRecord(connection: Connection, name: string): Promise<ModelRecord | null> {
  const row = await connection.selectFrom("models").selectAll().where("name", "=", name).executeTakeFirst();
  if (row === undefined) return null;
  const deployments = await connection
    .selectFrom("deployments")
    .selectAll()
    .where("model", "=", name)
    .orderBy("priority")
    .orderBy("id")
    .execute();
  const price =
    row.price_version === null
      ? undefined
      : await connection.selectFrom("prices").selectAll().where("id", "=", row.price_version).executeTakeFirst();
  return recordOf(row, deployments, price);
}

function recordOf(
  row: Row<"models">,
  deployments: readonly Row<"deployments">[],
  price: Row<"prices"> | undefined,
): ModelRecord {
  return {
    name: row.name,
    type: row.type as ModelType,
    ownedBy: row.owned_by,
    fallbacks: JSON.parse(row.fallbacks),
    outputTokensMax: row.max_output_tokens,
    contextWindow: row.context_window,
    unpriced: row.unpriced as ModelRecord["unpriced"],
    price: price === undefined ? null : priceOf(price),
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
