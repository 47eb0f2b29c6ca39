import type { Column } from "../../../components/data-table.tsx";
import { Count, Money, Share } from "../../../components/figures.tsx";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { StatusBadge, stateWords } from "../../../components/status-badge.tsx";
import { ModelName } from "../../../components/vendors/vendor-logo.tsx";
import { t } from "../../../language/areas/models.ts";
import { healthLabel, healthWords } from "../../catalog/health-words.ts";
import { UseListPrice } from "../../catalog/list-price-offer.tsx";
import { PriceLine } from "../../catalog/price-line.tsx";
import { isUnpriced, priceRank, typeWords } from "../../catalog/price-words.ts";
import { errorRateOf } from "../../usage/measures.ts";
import { healthOf, type ModelRow } from "./model-filter.ts";

const name: Column<ModelRow> = {
  id: "name",
  header: t("models.model"),
  cell: (model) => (
    <ModelName model={model.name} hints={[model.deployments?.[0]?.upstream_model, model.owned_by]}>
      {model.name} <ManagedByFile by={model.managed_by} />
    </ModelName>
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
  header: t("models.ownedBy"),
  cell: (model) => model.owned_by,
  sortBy: (model) => model.owned_by,
};
const price: Column<ModelRow> = {
  id: "price",
  header: t("models.price.title"),
  cell: (model) => <Price model={model} />,
  sortBy: (model) => priceRank(model.price),
};
const served: Column<ModelRow> = {
  id: "served",
  header: t("models.list.servedBy"),
  cell: (model) => <ServedBy model={model} />,
};
const requests: Column<ModelRow> = {
  id: "requests",
  secondary: true,
  header: t("models.figures.requests"),
  cell: (model) => <Count value={model.last_week?.requests ?? null} />,
  sortBy: (model) => model.last_week?.requests ?? null,
  align: "right",
};
const errors: Column<ModelRow> = {
  id: "errors",
  secondary: true,
  header: t("models.figures.errorRate"),
  cell: (model) => <Share share={errorRate(model)} />,
  sortBy: errorRate,
  align: "right",
};
const cost: Column<ModelRow> = {
  id: "cost",
  header: t("models.figures.cost"),
  cell: (model) => <Money usd={model.last_week?.cost_usd ?? null} cents />,
  sortBy: (model) => model.last_week?.cost_usd ?? null,
  align: "right",
};

export const columnsOfAll: readonly Column<ModelRow>[] = [name, type, price, served, requests, errors, cost];
export const columnsOfMembers: readonly Column<ModelRow>[] = [name, type, owner, price];

function errorRate({ last_week: week }: ModelRow): number | null {
  return week === undefined ? null : errorRateOf(week);
}

/** The price, or the fix for a model without one. */
function Price({ model }: { readonly model: ModelRow }) {
  const fix = isUnpriced(model.price) && model.list_price !== null && model.managed_by === "console";
  return (
    <>
      <PriceLine price={model.price} />
      {fix && model.deployments !== undefined && (
        <>
          {" "}
          <UseListPrice model={model} />
        </>
      )}
    </>
  );
}

const words = { ...healthWords, off: stateWords("disabled") };

function ServedBy({ model }: { readonly model: ModelRow }) {
  const { deployments = [] } = model;
  const health = healthOf(model);
  const [only] = deployments;
  const where =
    deployments.length === 1 && only !== undefined
      ? only.provider
      : t("models.list.deployments", { count: deployments.length });
  return (
    <span className="served-by">
      <StatusBadge status={health} label={words[health]} hint={servedHint(model)} /> <span>{where}</span>
    </span>
  );
}

const hintsShown = 6;

function servedHint({ deployments = [] }: ModelRow): string {
  const lines = deployments.slice(0, hintsShown).map(({ provider, upstream_model, enabled, health }) => {
    const state = enabled ? healthLabel(health) : words.off;
    return t("models.list.deployment", { provider, model: upstream_model, state });
  });
  const rest = deployments.length - lines.length;
  return [...lines, ...(rest > 0 ? [t("models.list.andMore", { count: rest })] : [])].join(" · ");
}
