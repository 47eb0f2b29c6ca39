import { bounds } from "#core/index.ts";

/**
 * Which workspace made which object at an upstream, as far as it was seen in answers (containers). Kept in memory: such
 * objects live for minutes, and one that is forgotten looks like one that has ended.
 */
export class ObjectOwners {
  readonly #known = new Map<string, true>();

  remember(workspaceId: string, providerId: string, id: string): void {
    const name = nameOf(workspaceId, providerId, id);
    this.#known.delete(name);
    this.#known.set(name, true);
    if (this.#known.size <= bounds.responseOwnersMax) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }

  has(workspaceId: string, providerId: string, id: string): boolean {
    return this.#known.has(nameOf(workspaceId, providerId, id));
  }
}

function nameOf(workspaceId: string, providerId: string, id: string): string {
  return `${workspaceId}\n${providerId}\n${id}`;
}
