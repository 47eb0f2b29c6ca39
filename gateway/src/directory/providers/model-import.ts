import type { ModelConfig } from "@sluice/contract/config-file";
import type { Remark } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { AuditSource, ImportRefusal, ImportReport, WantedModel } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import type { ApplyContext, ControlOptions } from "../control-options.ts";
import { applyDeployments } from "./deployments.ts";

import { modelRecord } from "./model-rows.ts";
import { createModel } from "./models.ts";

export async function importModels(
  options: ControlOptions,
  provider: string,
  wanted: readonly WantedModel[],
  auditSource: AuditSource,
): Promise<ImportReport> {
  return await auditedWrite({ ...options, owner: "console" as const }, auditSource, async (context) => {
    const row = await context.transaction
      .selectFrom("providers")
      .select("id")
      .where("id", "=", provider)
      .executeTakeFirst();
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
  });
}

async function importOne(
  context: ApplyContext,
  provider: string,
  { name, type, upstreamModel, ownedBy, price, outputTokensMax }: WantedModel,
): Promise<"created" | "extended" | (Remark<"importRefusal"> & { readonly reason: string })> {
  const deployment = { provider, upstream_model: upstreamModel };
  const before = await modelRecord(context.transaction, name, context.at);
  if (before === null) {
    const owner = ownedBy === null ? {} : { owned_by: ownedBy };
    const most = outputTokensMax === null ? {} : { max_output_tokens: outputTokensMax };
    await createModel(context, { name, type, deployments: [deployment], price, ...owner, ...most }, "catalogue");
    return "created";
  }
  if (before.managedBy === "file") {
    const reason = "It comes from the config file. Add the provider to it there.";
    return { code: "managed_by_file", params: {}, reason };
  }
  if (before.type !== type) {
    const reason = `There is a model of this name already, of the type ${before.type}.`;
    return { code: "other_type", params: { type: before.type }, reason };
  }
  if (before.deployments.some((each) => each.provider === provider && each.upstreamModel === upstreamModel)) {
    return { code: "already_there", params: {}, reason: "It leads there already." };
  }
  if (before.deployments.length >= deploymentsMax) {
    const reason = `It has ${deploymentsMax} deployments already.`;
    return { code: "too_many_deployments", params: { count: deploymentsMax }, reason };
  }
  const config: ModelConfig = {
    name,
    deployments: [
      ...before.deployments.map(({ id: _id, upstreamModel: upstream, capabilities, ...rest }) => ({
        ...rest,
        upstream_model: upstream,
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
