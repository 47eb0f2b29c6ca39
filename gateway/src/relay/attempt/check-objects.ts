import { Failure, type Provider } from "#core/index.ts";
import { allowsObject } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";

/**
 * Refuses a call that names an object which another workspace may have made: at an account that several workspaces can
 * reach only what this one was seen to make, and what the operator has listed, exists. Throws Failure not_found.
 */
export function checkObjects(dependencies: RelayDependencies, call: Call, provider: Provider): void {
  const { objects } = call.facts;
  if (objects === undefined || objects.length === 0 || !dependencies.sharesAccount(provider.id)) return;
  const workspaceId = call.principal.workspace.id;
  for (const { param, id } of objects) {
    if (allowsObject(provider, id) || dependencies.owners.has(workspaceId, provider.id, id)) continue;
    throw new Failure("not_found", `There is no object with the id "${id.slice(0, 128)}".`, { param, retry: "other" });
  }
}
