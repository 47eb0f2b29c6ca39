import { formatCount } from "../../client/format.ts";
import type { Column } from "../../parts/data-table.tsx";
import { Count, Money } from "../../parts/figures.tsx";
import { ManagedByFile } from "../../parts/managed-by-file.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { PriceLine } from "../../supply/price-line.tsx";
import { priceRank, typeWords } from "../../supply/price-words.ts";
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
  well: "Well",
  degraded: "Degraded",
  unwell: "Unwell",
  down: "Down",
  unknown: "Not asked lately",
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
