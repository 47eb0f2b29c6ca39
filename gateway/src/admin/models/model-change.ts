import type { BodyOf } from "@sluice/contract";
import type { DeploymentRecord, ModelDraft, ModelRecord } from "#ports/index.ts";

type SentDeployment = BodyOf<"models.create">["deployments"][number];

/** A new model from what was sent. */
export function newModel({ deployments, ...rest }: BodyOf<"models.create">): ModelDraft {
  return { ...rest, deployments: deployments.map((sent) => deploymentFrom(sent, undefined)) };
}

/** A model with what was sent put over what is stored; what was not sent stays, of a deployment too. */
export function changedModel(before: ModelRecord, body: BodyOf<"models.update">): ModelDraft {
  const stored = new Map(before.deployments.map((each) => [targetOf(each.provider, each.upstreamModel), each]));
  const deployments = body.deployments?.map((sent) =>
    deploymentFrom(sent, stored.get(targetOf(sent.provider, sent.upstream_model ?? before.name))),
  );
  return {
    name: before.name,
    type: body.type ?? before.type,
    owned_by: body.owned_by ?? before.ownedBy,
    fallbacks: body.fallbacks ?? [...before.fallbacks],
    max_output_tokens: body.max_output_tokens === undefined ? before.outputTokensMax : body.max_output_tokens,
    context_window: body.context_window === undefined ? before.contextWindow : body.context_window,
    ...(body.unpriced === undefined ? {} : { unpriced: body.unpriced }),
    ...(body.price === undefined ? {} : { price: body.price }),
    ...(body.next_price === undefined ? {} : { next_price: body.next_price }),
    deployments: deployments ?? before.deployments.map(deploymentAsStored),
  };
}

function deploymentFrom(
  { capabilities, ...sent }: SentDeployment,
  before: DeploymentRecord | undefined,
): ModelDraft["deployments"][number] {
  const said = capabilities === undefined ? (before?.capabilities ?? null) : capabilities;
  return {
    ...(before === undefined ? {} : { priority: before.priority, weight: before.weight, enabled: before.enabled }),
    ...Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
    provider: sent.provider,
    ...(said === null ? {} : { capabilities: said }),
  };
}

function deploymentAsStored({ id: _id, upstreamModel, capabilities, ...rest }: DeploymentRecord) {
  return { ...rest, upstream_model: upstreamModel, ...(capabilities === null ? {} : { capabilities }) };
}

function targetOf(provider: string, upstreamModel: string): string {
  return JSON.stringify([provider, upstreamModel]);
}
