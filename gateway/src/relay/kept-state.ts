import { type Deployment, Failure, type Model, type Provider, type UpstreamObject } from "#core/index.ts";
import type { NamedObject } from "#protocols/index.ts";
import { allowsObject, keepsThreads } from "#providers/index.ts";
import { matchLane } from "./attempt/lane-match.ts";
import type { Call } from "./call.ts";
import type { RelayDependencies } from "./dependencies.ts";
import type { KeptState } from "./upstream-objects.ts";

/**
 * Looks up everything that a call names before it is planned. What it continues must be its workspace's. Other objects are checked
 * for each account (`checkObjects`), because an account of one workspace may have more than was seen here.
 */
export async function findKeptState(dependencies: RelayDependencies, call: Call): Promise<KeptState> {
  const { continues } = call.facts;
  const kept = await lookUpKeptState(dependencies, call);
  if (continues === null) return kept;
  const continued = kept.found.get(continues.id);
  if (continued?.kind !== continues.kind) throw notContinued(call, continues);
  const models =
    continued.kind === "thread_message" ? threadModels(call, continued) : modelsAt(call, continued.provider);
  if (models.length === 0) throw notContinued(call, continues);
  return { ...kept, models, provider: continued.provider };
}

/** The same, without requiring anything. */
export async function lookUpKeptState(dependencies: RelayDependencies, call: Call): Promise<KeptState> {
  const { continues, objects = [] } = call.facts;
  const named = continues === null ? objects : [continues, ...objects];
  const found = await dependencies.upstreamObjects.find(
    call.principal.workspace.id,
    named.map(({ id }) => id),
    { waits: continues !== null || mayBeRefused(dependencies, call, objects), signal: call.signal },
  );
  const first = [...found.values()].find(({ provider }) => modelsAt(call, provider).length > 0);
  return { found, models: call.models, provider: first?.provider ?? null };
}

/**
 * At an account that several workspaces share, a call may name what its own workspace made and what the operator has listed. Throws
 * Failure not_found.
 */
export function checkObjects(dependencies: RelayDependencies, call: Call, provider: Provider): void {
  const { objects } = call.facts;
  if (objects === undefined || objects.length === 0 || !dependencies.sharesAccount(provider.id)) return;
  for (const { param, id } of objects) {
    if (allowsObject(provider, id) || call.kept?.found.get(id)?.provider === provider.id) continue;
    throw new Failure("not_found", `There is no object with the id "${id.slice(0, 128)}".`, { param, retry: "other" });
  }
}

/** A thread goes on with the model that answered it, at its own account. None: its caller has to begin a new one. */
function threadModels({ models }: Call, { provider: account, upstreamModel }: UpstreamObject): readonly Model[] {
  const isThere = ({ enabled, provider, upstreamModel: name }: Deployment): boolean =>
    enabled && provider.enabled && provider.id === account && name === upstreamModel;
  const model = models.find(({ deployments }) => deployments.some(isThere));
  return model === undefined ? [] : [model];
}

function modelsAt({ models }: Call, account: string): readonly Model[] {
  return models.filter(({ deployments }) => deployments.some(({ provider }) => provider.id === account));
}

function mayBeRefused(
  { sharesAccount }: RelayDependencies,
  { models }: Call,
  objects: readonly NamedObject[],
): boolean {
  const refuses = ({ provider }: Deployment): boolean =>
    sharesAccount(provider.id) && objects.some(({ id }) => !allowsObject(provider, id));
  return models.some(({ deployments }) => deployments.some(refuses));
}

function notContinued(call: Call, { id, kind, param }: NamedObject): Failure {
  const shown = id.slice(0, 128);
  if (kind !== "thread_message") {
    return new Failure("invalid_request", `There is no response with the id "${shown}" to go on from.`, { param });
  }
  const [model] = call.models;
  if (model === undefined || !modelKeepsThreads(model, call)) {
    return new Failure("unsupported_by_model", "This model's provider keeps no threads. Send the whole conversation.", {
      param: "thread",
      details: { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
    });
  }
  return new Failure("not_found", `Thread not found: no message "${shown}" can be continued.`, {
    param: "thread.previous_message_id",
    details: { details: { error_code: "thread_not_found" } },
  });
}

function modelKeepsThreads({ deployments }: Model, { protocol }: Call): boolean {
  return deployments.some((deployment) => {
    const match = matchLane(deployment, protocol);
    return match !== null && !match.translated && keepsThreads(deployment.provider, match.kind);
  });
}
