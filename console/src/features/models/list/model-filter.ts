import type { ConsoleModel } from "@sluice/contract";
import type { Filter } from "../../../components/filter-bar.tsx";
import { stateWords } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/models.ts";
import type { Search } from "../../../routes/search.ts";
import { healthChoices, jointState } from "../../catalog/health-words.ts";
import { isUnpriced, modelTypes, typeWords } from "../../catalog/price-words.ts";

const type: Filter = {
  name: "type",
  label: t("models.type"),
  choices: modelTypes.map((value) => ({ value, label: typeWords[value] })),
};
const price: Filter = {
  name: "price",
  label: t("models.price.title"),
  choices: [
    { value: "none", label: t("models.noPrice") },
    { value: "set", label: t("models.list.priced") },
  ],
};
const priceOfAll: Filter = {
  ...price,
  choices: [...price.choices, { value: "partly", label: t("models.partlyPriced.filter") }],
};
const health: Filter = {
  name: "health",
  label: t("models.health"),
  choices: [...healthChoices, { value: "off", label: stateWords("disabled") }],
};

/** Only administrators see how models are served. */
export const filtersOfAll: readonly Filter[] = [type, priceOfAll, health];
export const filtersOfMembers: readonly Filter[] = [type, price];

/** The fields of the list; deployments are hidden from users who may not see them. */
export type ModelRow = Omit<ConsoleModel, "deployments" | "last_week" | "unpriced_usage"> &
  Partial<Pick<ConsoleModel, "deployments" | "last_week" | "unpriced_usage">>;

export type ModelHealth = ReturnType<typeof jointState> | "off";

/** The health of a model by its enabled deployments. */
export function healthOf({ deployments = [] }: ModelRow): ModelHealth {
  const used = deployments.filter((deployment) => deployment.enabled);
  return used.length === 0 ? "off" : jointState(used.map((deployment) => deployment.health.state));
}

/** Whether its recent usage is not fully covered by its price. */
export function isPartlyPriced({ unpriced_usage: left = [] }: ModelRow): boolean {
  return left.length > 0;
}

/** Whether a model matches the filters in the URL. */
export function fitsModel(model: ModelRow, search: Search): boolean {
  const { type: asked = "", price: priced = "", health: state = "", provider = "" } = search;
  const part = (search["search"] ?? "").trim().toLowerCase();
  const { deployments = [] } = model;
  const texts = [model.name, model.owned_by, ...deployments.flatMap((each) => [each.upstream_model, each.provider])];
  return (
    texts.some((text) => text.toLowerCase().includes(part)) &&
    (asked === "" || model.type === asked) &&
    (priced !== "none" || isUnpriced(model.price)) &&
    (priced !== "set" || !isUnpriced(model.price)) &&
    (priced !== "partly" || isPartlyPriced(model)) &&
    (provider === "" || deployments.some((each) => each.provider === provider)) &&
    (state === "" || healthOf(model) === state)
  );
}
