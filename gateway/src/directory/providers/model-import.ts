import type { PriceConfig } from "@sluice/contract/config-file";
import { type Remark, remarkSentence } from "@sluice/contract/words";
import { type ModelType, orNotFound } from "#core/index.ts";
import type { ModelDraft } from "#ports/index.ts";
import { findRow } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { applyDeployments, deploymentDraft } from "./deployments.ts";
import { insertModel, modelRecord } from "./models.ts";

/** A provider's model to import as `name`. All but `upstream_model` and `type` are used only if the model is new. */
interface ImportedModel extends Pick<ModelDraft, "name" | "owned_by" | "max_output_tokens"> {
  readonly upstream_model: string;
  readonly type: ModelType;
  /** From the price list. */
  readonly price: PriceConfig | null;
}

type ImportRefusal = Remark<"importRefusal">;

/** Creates models, or adds the provider to existing ones. Models that cannot be imported are returned with the reason. */
export async function importModels(context: ControlWrite, provider: string, wanted: readonly ImportedModel[]) {
  orNotFound(await findRow(context.transaction, "providers", { id: provider }), "provider");
  const created: string[] = [];
  const extended: string[] = [];
  const refused: (ImportRefusal & { readonly name: string; readonly reason: string })[] = [];
  for (const model of wanted) {
    const done = await importOne(context, provider, model);
    if (done === "created") created.push(model.name);
    else if (done === "extended") extended.push(model.name);
    else refused.push({ name: model.name, ...done, reason: remarkSentence("importRefusal", done) });
  }
  return { created, extended, refused };
}

async function importOne(
  context: ControlWrite,
  provider: string,
  { upstream_model, ...draft }: ImportedModel,
): Promise<"created" | "extended" | ImportRefusal> {
  const { name, type } = draft;
  const deployment = { provider, upstream_model };
  const before = await modelRecord(context.transaction, name, context.at);
  if (before === null) {
    await insertModel(context, { ...draft, deployments: [deployment] }, "price_list");
    return "created";
  }
  if (before.managed_by === "file") return { code: "managed_by_file", params: {} };
  if (before.type !== type) return { code: "other_type", params: { type: before.type } };
  if (before.deployments.some((each) => each.provider === provider && each.upstream_model === upstream_model)) {
    return { code: "already_there", params: {} };
  }
  if (before.deployments.length >= deploymentsMax) {
    return { code: "too_many_deployments", params: { count: deploymentsMax } };
  }
  const existing = before.deployments.map(deploymentDraft);
  await applyDeployments(context, [{ name, deployments: [...existing, deployment] }]);
  return "extended";
}

/** The maximum in the schema of a model. */
const deploymentsMax = 100;
