import { formatCount } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Money } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { PriceLine } from "../../catalog/price-line.tsx";
import { priceRank, typeWords } from "../../catalog/price-words.ts";
import { healthOf, type ModelRow } from "./model-filter.ts";

const name: Column<ModelRow> = {
  id: "name",
  header: "Model",
  cell: (model) => (
    <>
      {model.name} <ManagedByFile by={model.managed_by} />
    </>
  ),
  sortBy: (model) => model.name,
};
const type: Column<ModelRow> = {
  id: "type",
  secondary: true,
  header: "Type",
  cell: (model) => typeWords[model.type],
  sortBy: (model) => model.type,
};
const owner: Column<ModelRow> = {
  id: "owner",
  header: "Made by",
  cell: (model) => model.owned_by,
  sortBy: (model) => model.owned_by,
};
const price: Column<ModelRow> = {
  id: "price",
  header: "Price",
  cell: (model) => <PriceLine price={model.price} />,
  sortBy: (model) => priceRank(model.price),
};
const served: Column<ModelRow> = { id: "served", header: "Served by", cell: (model) => <ServedBy model={model} /> };
const requests: Column<ModelRow> = {
  id: "requests",
  secondary: true,
  header: "Requests, 7 days",
  cell: (model) => <Count value={model.last_week?.requests ?? null} short />,
  sortBy: (model) => model.last_week?.requests ?? null,
  align: "right",
};
const cost: Column<ModelRow> = {
  id: "cost",
  header: "Cost, 7 days",
  cell: (model) => <Money usd={model.last_week?.cost_usd ?? null} short />,
  sortBy: (model) => model.last_week?.cost_usd ?? null,
  align: "right",
};

export const columnsOfAll: readonly Column<ModelRow>[] = [name, type, price, served, requests, cost];
export const columnsOfMembers: readonly Column<ModelRow>[] = [name, type, owner, price];

const words = {
  healthy: "Healthy",
  degraded: "Degraded",
  unhealthy: "Unhealthy",
  down: "Down",
  unknown: "Idle",
  off: "Switched off",
};

function ServedBy({ model }: { readonly model: ModelRow }) {
  const { deployments = [] } = model;
  const health = healthOf(model);
  const [only] = deployments;
  const where =
    deployments.length === 1 && only !== undefined ? only.provider : `${formatCount(deployments.length)} deployments`;
  return (
    <span className="served-by">
      <StatusBadge status={health} label={words[health]} hint={servedHint(model)} /> <span>{where}</span>
    </span>
  );
}

function servedHint({ deployments = [] }: ModelRow): string {
  const lines = deployments.slice(0, 6).map((each) => {
    const state = each.enabled ? words[each.health.state].toLowerCase() : "switched off";
    return `${each.provider} ${each.upstream_model}: ${state}`;
  });
  return deployments.length > lines.length ? `${lines.join("; ")}; and others` : lines.join("; ");
}
