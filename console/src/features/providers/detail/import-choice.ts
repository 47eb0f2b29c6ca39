import { type BodyInput, type ConsoleModel, modelSchema, type UpstreamModel } from "@sluice/contract";
import { t } from "../../../language/areas/providers.ts";
import type { Search } from "../../../routes/search.ts";
import type { ModelType } from "../../catalog/price-words.ts";

/** What an upstream model is to be called here. */
export interface Chosen {
  readonly name: string;
  readonly type: ModelType;
}

/** By the upstream's name. */
export type Choice = ReadonlyMap<string, Chosen>;

/** As many as one call takes. */
export const choiceMax = 500;

/** Upstream models that the address asks for: by name, by the type they are thought to be, those not served yet. */
export function fittingModels(models: readonly UpstreamModel[], search: Search): readonly UpstreamModel[] {
  const part = (search["find"] ?? "").trim().toLowerCase();
  const { type = "", served = "" } = search;
  return models.filter(
    (model) =>
      (model.id.toLowerCase().includes(part) || (model.owned_by ?? "").toLowerCase().includes(part)) &&
      (type === "" || model.suggested.type === type) &&
      (served !== "no" || model.served_as.length === 0) &&
      (served !== "yes" || model.served_as.length > 0),
  );
}

export function toggled(choice: Choice, model: UpstreamModel): Choice {
  const next = new Map(choice);
  if (!next.delete(model.id)) next.set(model.id, model.suggested);
  return next;
}

/** Chooses all of these, or none of them when all were chosen. No more than one call takes. */
export function allToggled(choice: Choice, models: readonly UpstreamModel[]): Choice {
  const next = new Map(choice);
  if (models.every((model) => choice.has(model.id))) {
    for (const model of models) next.delete(model.id);
    return next;
  }
  for (const model of models) {
    if (next.size < choiceMax && !next.has(model.id)) next.set(model.id, model.suggested);
  }
  return next;
}

export interface Effect {
  readonly tone: "new" | "extends" | "wrong";
  readonly words: string;
}

/** What choosing an upstream model under a name will do, told before it is done. */
export function effectOf(
  provider: string,
  upstreamModel: string,
  { name, type }: Chosen,
  models: ReadonlyMap<string, Pick<ConsoleModel, "type" | "managed_by" | "deployments">>,
): Effect {
  if (!modelSchema.shape.name.safeParse(name).success) {
    return { tone: "wrong", words: t("providers.aNameHasNoSpaces") };
  }
  const there = models.get(name);
  if (there === undefined) return { tone: "new", words: t("providers.newModel") };
  if (there.managed_by === "file") return { tone: "wrong", words: t("providers.theConfigFileOwnsA") };
  if (there.type !== type) return { tone: "wrong", words: t("providers.thereIsAModelOf", { type: there.type }) };
  const leads = there.deployments.some((each) => each.provider === provider && each.upstream_model === upstreamModel);
  return leads
    ? { tone: "wrong", words: t("providers.thisModelLeadsThereAlready") }
    : { tone: "extends", words: t("providers.addsADeploymentToIt") };
}

export function importBody(choice: Choice): BodyInput<"providers.import"> {
  return { models: [...choice].map(([upstream_model, { name, type }]) => ({ upstream_model, name, type })) };
}
