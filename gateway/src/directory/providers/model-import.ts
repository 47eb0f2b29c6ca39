import type { PriceConfig } from "@sluice/contract/config-file";
import { type Remark, remarkSentence } from "@sluice/contract/words";
import { type ModelType, orNotFound } from "#core/index.ts";
import { findRow } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { applyDeployments, deploymentDraft } from "./deployments.ts";
import { insertModel, modelRecord } from "./models.ts";

/** A provider's model to import as `name`. All but `upstreamModel` and `type` are used only if the model is new. */
interface ImportedModel {
  readonly upstreamModel: string;
  readonly name: string;
  readonly type: ModelType;
  /** null: the type of the provider. */
  readonly ownedBy: string | null;
  /** From the price list. */
  readonly price: PriceConfig | null;
  /** null: the provider does not tell. */
  readonly outputTokensMax: number | null;
}

type ImportRefusal = Remark<"importRefusal">;

/** Creates models, or adds the provider to existing ones. Models that cannot be imported are reported; the others are imported. */
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
  { name, type, upstreamModel, ownedBy, price, outputTokensMax }: ImportedModel,
): Promise<"created" | "extended" | ImportRefusal> {
  const deployment = { provider, upstream_model: upstreamModel };
  const before = await modelRecord(context.transaction, name, context.at);
  if (before === null) {
    const owner = ownedBy === null ? {} : { owned_by: ownedBy };
    const limit = outputTokensMax === null ? {} : { max_output_tokens: outputTokensMax };
    await insertModel(context, { name, type, deployments: [deployment], price, ...owner, ...limit }, "catalogue");
    return "created";
  }
  if (before.managed_by === "file") return { code: "managed_by_file", params: {} };
  if (before.type !== type) return { code: "other_type", params: { type: before.type } };
  if (before.deployments.some((each) => each.provider === provider && each.upstream_model === upstreamModel)) {
    return { code: "already_there", params: {} };
  }
  if (before.deployments.length >= deploymentsMax) {
    return { code: "too_many_deployments", params: { count: deploymentsMax } };
  }
  const existing = before.deployments.map(deploymentDraft);
  await applyDeployments(context, [{ name, deployments: [...existing, deployment] }]);
  return "extended";
}

/** As in the schema of a model. */
const deploymentsMax = 100;
