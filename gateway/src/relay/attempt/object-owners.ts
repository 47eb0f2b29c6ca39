import { BoundedMap, bounds } from "#core/index.ts";

/**
 * Which workspace made which object at an upstream, as far as it was seen in answers (containers). Kept in memory: such
 * objects live for minutes, and one that is forgotten looks like one that has ended.
 */
export class ObjectOwners {
  readonly #known = new BoundedMap<string, true>(bounds.responseOwnersMax);

  remember(workspaceId: string, providerId: string, id: string): void {
    this.#known.set(nameOf(workspaceId, providerId, id), true);
  }

  has(workspaceId: string, providerId: string, id: string): boolean {
    return this.#known.get(nameOf(workspaceId, providerId, id)) === true;
  }
}

function nameOf(workspaceId: string, providerId: string, id: string): string {
  return `${workspaceId}\n${providerId}\n${id}`;
}
