import { Failure, type Provider, type UpstreamObject, type UpstreamObjectKind } from "#core/index.ts";
import type { NamedObject } from "#protocols/index.ts";
import { allowsObject } from "#providers/index.ts";
import type { Call } from "./call.ts";
import type { RelayDependencies } from "./dependencies.ts";
import type { KeptState } from "./upstream-objects.ts";

/**
 * Looks up everything that a call names before it is planned. What it continues must have been made by its own workspace. Other
 * objects are checked again for each account (`checkObjects`), because an account of one workspace may have more than was seen here.
 */
export async function findKeptState(dependencies: RelayDependencies, call: Call): Promise<KeptState> {
  const { continues, objects = none } = call.facts;
  const named = continues === null ? objects : [continues, ...objects];
  const found = await dependencies.upstreamObjects.find(
    call.principal.workspace.id,
    named.map(({ id }) => id),
    { waits: continues !== null || mayBeRefused(dependencies, call, objects), signal: call.signal },
  );
  const continued = continues === null ? undefined : found.get(continues.id);
  if (continues !== null && continued === undefined) throw notContinued(continues);
  const first = continued ?? [...found.values()].find(({ provider }) => canServe(call, provider));
  return { found, provider: first?.provider ?? null, tokens: tokensOf(named, found) };
}

/**
 * Refuses a call that names an object which another workspace may have made: at an account that several workspaces can
 * reach only what this one was seen to make, and what the operator has listed, exists. Throws Failure not_found.
 */
export function checkObjects(dependencies: RelayDependencies, call: Call, provider: Provider): void {
  const { objects } = call.facts;
  if (objects === undefined || objects.length === 0 || !dependencies.sharesAccount(provider.id)) return;
  for (const { param, id } of objects) {
    if (allowsObject(provider, id) || call.kept?.found.get(id)?.provider === provider.id) continue;
    throw new Failure("not_found", `There is no object with the id "${id.slice(0, 128)}".`, { param, retry: "other" });
  }
}

function canServe({ models }: Call, account: string): boolean {
  return models.some(({ deployments }) => deployments.some(({ provider }) => provider.id === account));
}

function mayBeRefused(
  { sharesAccount }: Pick<RelayDependencies, "sharesAccount">,
  { models }: Call,
  objects: readonly NamedObject[],
): boolean {
  return models.some(({ deployments }) =>
    deployments.some(
      ({ provider }) => sharesAccount(provider.id) && objects.some(({ id }) => !allowsObject(provider, id)),
    ),
  );
}

/** What tools look into by themselves (stores, containers, skills), and what is not read at all, is no input as such. */
function tokensOf(named: readonly NamedObject[], found: ReadonlyMap<string, UpstreamObject>): number | null {
  let tokens = 0;
  for (const { id, kind } of named) {
    if (isNoInput.has(kind)) continue;
    const known = found.get(id)?.inputTokens ?? null;
    if (known === null) return null;
    tokens += known;
  }
  return tokens;
}

function notContinued({ id, param }: NamedObject): Failure {
  return new Failure("invalid_request", `There is no response with the id "${id.slice(0, 128)}" to go on from.`, {
    param,
  });
}

const isNoInput: ReadonlySet<string> = new Set<UpstreamObjectKind>(["container", "skill", "vector_store", "resource"]);

const none: readonly NamedObject[] = [];
