import type { ModelConfig, PriceConfig } from "@sluice/contract/config-file";
import type { Remark } from "@sluice/contract/words";
import { Failure, type ModelType } from "#core/index.ts";
import { findRow } from "../rows.ts";
import type { ControlWrite } from "../store.ts";
import { applyDeployments } from "./deployments.ts";
import { insertModel, modelRecord } from "./models.ts";

/** A model of a provider that is imported under one of our names. `ownedBy` and `price` are used if the model is new. */
interface WantedModel {
  readonly upstreamModel: string;
  readonly name: string;
  readonly type: ModelType;
  /** null: not known; then the kind of the provider is used. */
  readonly ownedBy: string | null;
  /** As the price list has it. */
  readonly price: PriceConfig | null;
  /** As the provider tells it; null: it does not. */
  readonly outputTokensMax: number | null;
}

/** `reason`: the same in a sentence. */
type ImportRefusal = Remark<"importRefusal"> & { readonly name: string; readonly reason: string };

/** Makes models, or adds the provider to existing ones. What cannot be done is reported; the rest is done. */
export async function importModels(context: ControlWrite, provider: string, wanted: readonly WantedModel[]) {
  const row = await findRow(context.transaction, "providers", { id: provider });
  if (row === undefined) throw new Failure("not_found", "There is no such provider.", { param: "provider" });
  const created: string[] = [];
  const extended: string[] = [];
  const refused: ImportRefusal[] = [];
  for (const model of wanted) {
    const done = await importOne(context, provider, model);
    if (done === "created") created.push(model.name);
    else if (done === "extended") extended.push(model.name);
    else refused.push({ name: model.name, ...done });
  }
  return { created, extended, refused };
}

async function importOne(
  context: ControlWrite,
  provider: string,
  { name, type, upstreamModel, ownedBy, price, outputTokensMax }: WantedModel,
): Promise<"created" | "extended" | (Remark<"importRefusal"> & { readonly reason: string })> {
  const deployment = { provider, upstream_model: upstreamModel };
  const before = await modelRecord(context.transaction, name, context.at);
  if (before === null) {
    const owner = ownedBy === null ? {} : { owned_by: ownedBy };
    const most = outputTokensMax === null ? {} : { max_output_tokens: outputTokensMax };
    await insertModel(context, { name, type, deployments: [deployment], price, ...owner, ...most }, "catalogue");
    return "created";
  }
  if (before.managed_by === "file") {
    const reason = "It comes from the config file. Add the provider to it there.";
    return { code: "managed_by_file", params: {}, reason };
  }
  if (before.type !== type) {
    const reason = `There is a model of this name already, of the type ${before.type}.`;
    return { code: "other_type", params: { type: before.type }, reason };
  }
  if (before.deployments.some((each) => each.provider === provider && each.upstream_model === upstreamModel)) {
    return { code: "already_there", params: {}, reason: "It leads there already." };
  }
  if (before.deployments.length >= deploymentsMax) {
    const reason = `It has ${deploymentsMax} deployments already.`;
    return { code: "too_many_deployments", params: { count: deploymentsMax }, reason };
  }
  const config: ModelConfig = {
    name,
    deployments: [
      ...before.deployments.map(({ id: _id, capabilities, ...rest }) => ({
        ...rest,
        ...(capabilities === null ? {} : { capabilities }),
      })),
      deployment,
    ],
  };
  await applyDeployments(context, [config]);
  return "extended";
}

/** As the schema of a model has it. */
const deploymentsMax = 100;
