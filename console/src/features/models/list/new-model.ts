import { type BodyInput, modelSchema, type PriceConfig } from "@sluice/contract";
import { t } from "../../../language/areas/models.ts";
import type { ModelType } from "../../catalog/price-words.ts";
import type { Faults } from "../../catalog/use-faults.ts";

/** The state of the form for a new model. */
export interface NewModel {
  readonly name: string;
  readonly type: ModelType;
  /** null: not chosen yet. */
  readonly provider: string | null;
  /** Empty: the upstream uses the same name. */
  readonly upstreamModel: string;
  /** Only if the price list has a price. */
  readonly usesListPrice: boolean;
  /** Entered instead of the price list's. */
  readonly price: PriceConfig;
  readonly fallbacks: readonly string[];
}

export const emptyModel: NewModel = {
  ...{ name: "", type: "chat", provider: null, upstreamModel: "" },
  ...{ usesListPrice: true, price: {}, fallbacks: [] },
};

/** Validation errors. `taken`: existing models by name. */
export function modelFaults(draft: NewModel, taken: Pick<ReadonlySet<string>, "has">): Faults {
  const name = nameFault(draft.name.trim(), taken);
  return {
    ...(name === null ? {} : { name }),
    ...(draft.provider === null ? { provider: t("models.add.providerMissing") } : {}),
  };
}

function nameFault(name: string, taken: Pick<ReadonlySet<string>, "has">): string | null {
  if (name === "") return t("models.add.nameMissing");
  if (!modelSchema.shape.name.safeParse(name).success) return t("models.add.nameWrong");
  return taken.has(name) ? t("models.add.nameExists") : null;
}

/** `listPrice`: the price list has one for the upstream model. */
export function modelBody(
  draft: NewModel & { readonly provider: string },
  listPrice: boolean,
): BodyInput<"models.create"> {
  const upstream = draft.upstreamModel.trim();
  const deployment = { provider: draft.provider, ...(upstream === "" ? {} : { upstream_model: upstream }) };
  const usesListPrice = listPrice && draft.usesListPrice;
  return {
    ...{ name: draft.name.trim(), type: draft.type, deployments: [deployment] },
    ...(usesListPrice ? { use_list_price: true } : {}),
    ...(!usesListPrice && Object.keys(draft.price).length > 0 ? { price: draft.price } : {}),
    ...(draft.fallbacks.length > 0 ? { fallbacks: [...draft.fallbacks] } : {}),
  };
}
