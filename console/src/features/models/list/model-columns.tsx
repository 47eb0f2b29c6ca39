import { formatCount } from "../../../client/format.ts";
import type { Column } from "../../../components/data-table.tsx";
import { Count, Money } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/models.ts";
import { PriceLine } from "../../catalog/price-line.tsx";
import { priceRank, typeWords } from "../../catalog/price-words.ts";
import { healthOf, type ModelRow } from "./model-filter.ts";

const name: Column<ModelRow> = {
  id: "name",
  header: t("models.model"),
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
  header: t("models.type"),
  cell: (model) => typeWords[model.type],
  sortBy: (model) => model.type,
};
const owner: Column<ModelRow> = {
  id: "owner",
  header: t("models.madeBy"),
  cell: (model) => model.owned_by,
  sortBy: (model) => model.owned_by,
};
const price: Column<ModelRow> = {
  id: "price",
  header: t("models.price"),
  cell: (model) => <PriceLine price={model.price} />,
  sortBy: (model) => priceRank(model.price),
};
const served: Column<ModelRow> = {
  id: "served",
  header: t("models.servedBy"),
  cell: (model) => <ServedBy model={model} />,
};
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
  healthy: t("models.healthy"),
  degraded: t("models.degraded"),
  unhealthy: t("models.unhealthy"),
  down: t("models.down"),
  unknown: t("models.idle"),
  off: t("models.switchedOff"),
};

function ServedBy({ model }: { readonly model: ModelRow }) {
  const { deployments = [] } = model;
  const health = healthOf(model);
  const [only] = deployments;
  const where =
    deployments.length === 1 && only !== undefined
      ? only.provider
      : t("models.deployments3", { length: formatCount(deployments.length) });
  return (
    <span className="served-by">
      <StatusBadge status={health} label={words[health]} hint={servedHint(model)} /> <span>{where}</span>
    </span>
  );
}

function servedHint({ deployments = [] }: ModelRow): string {
  const lines = deployments.slice(0, 6).map((each) => {
    const state = each.enabled ? words[each.health.state].toLowerCase() : t("models.switchedOff2");
    return `${each.provider} ${each.upstream_model}: ${state}`;
  });
  return deployments.length > lines.length ? `${lines.join("; ")}; and others` : lines.join("; ");
}
