import { type BodyInput, modelSchema } from "@sluice/contract";
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
}

export const emptyModel: NewModel = { name: "", type: "chat", provider: null, upstreamModel: "" };

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

export function modelBody(draft: NewModel & { readonly provider: string }): BodyInput<"models.create"> {
  const upstream = draft.upstreamModel.trim();
  const deployment = { provider: draft.provider, ...(upstream === "" ? {} : { upstream_model: upstream }) };
  return { name: draft.name.trim(), type: draft.type, deployments: [deployment] };
}
