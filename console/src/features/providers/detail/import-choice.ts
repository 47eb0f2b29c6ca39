import { type BodyInput, type ConsoleModel, modelSchema, type UpstreamModel } from "@sluice/contract";
import { t } from "../../../language/areas/providers.ts";
import type { Search } from "../../../routes/search.ts";
import { type ModelType, typeWords } from "../../catalog/price-words.ts";

/** A selected upstream model with its new name. */
export interface Chosen {
  readonly name: string;
  readonly type: ModelType;
  /** Owner according to the provider's list. null: not listed. */
  readonly ownedBy: string | null;
  /** According to the provider's list. null: not listed. */
  readonly outputTokensMax: number | null;
}

export type ServedModels = ReadonlyMap<string, Pick<ConsoleModel, "type" | "managed_by" | "deployments">>;

/** Selected models by upstream name. */
export type Choice = ReadonlyMap<string, Chosen>;

/** Maximum number of models in one import. */
export const choiceMax = 500;

/** Upstream models that match the filters in the URL: name, guessed type, not served yet. */
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
  if (!next.delete(model.id)) next.set(model.id, suggestion(model));
  return next;
}

function suggestion({ suggested, owned_by, max_output_tokens }: UpstreamModel): Chosen {
  return { ...suggested, ownedBy: owned_by, outputTokensMax: max_output_tokens };
}

/** Models that “Select all” includes: not served yet, and their suggested names are available. */
export function choosable(
  provider: string,
  upstream: readonly UpstreamModel[],
  models: ServedModels,
): readonly UpstreamModel[] {
  return upstream.filter(
    (model) => model.served_as.length === 0 && effectOf(provider, model.id, suggestion(model), models).tone !== "wrong",
  );
}

/** Selects all of these models up to the maximum of one import, or deselects all if all were selected. */
export function allToggled(choice: Choice, upstream: readonly UpstreamModel[]): Choice {
  const next = new Map(choice);
  if (upstream.every((model) => choice.has(model.id))) {
    for (const model of upstream) next.delete(model.id);
    return next;
  }
  for (const model of upstream) {
    if (next.size < choiceMax && !next.has(model.id)) next.set(model.id, suggestion(model));
  }
  return next;
}

export interface Effect {
  readonly tone: "new" | "extends" | "wrong";
  readonly words: string;
}

/** Previews the effect of importing an upstream model under a name. */
export function effectOf(
  provider: string,
  upstreamModel: string,
  { name, type }: Pick<Chosen, "name" | "type">,
  models: ServedModels,
): Effect {
  if (!modelSchema.shape.name.safeParse(name).success) {
    return { tone: "wrong", words: t("providers.effect.nameWrong") };
  }
  const there = models.get(name);
  if (there === undefined) return { tone: "new", words: t("providers.effect.new") };
  if (there.managed_by === "file") return { tone: "wrong", words: t("providers.effect.managed") };
  if (there.type !== type)
    return { tone: "wrong", words: t("providers.effect.otherType", { type: typeWords[there.type] }) };
  const leads = there.deployments.some((each) => each.provider === provider && each.upstream_model === upstreamModel);
  return leads
    ? { tone: "wrong", words: t("providers.effect.already") }
    : { tone: "extends", words: t("providers.effect.extends") };
}

export function importBody(choice: Choice): BodyInput<"providers.import"> {
  const models = [...choice].map(([upstream_model, { name, type, ownedBy, outputTokensMax }]) => ({
    upstream_model,
    name,
    type,
    ...(ownedBy === null || ownedBy.trim() === "" ? {} : { owned_by: ownedBy }),
    ...(outputTokensMax === null ? {} : { max_output_tokens: outputTokensMax }),
  }));
  return { models };
}
