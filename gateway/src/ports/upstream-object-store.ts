import type { UpstreamObject } from "#core/index.ts";

/** Objects that vendors keep for later calls. Most are written by the ledger's `insert`, with the entries that name them. */
export interface UpstreamObjectStore {
  /** Those of these ids that belong to the workspace, in any order. An expired one may be among them until it is pruned. */
  find(workspaceId: string, ids: readonly string[]): Promise<readonly UpstreamObject[]>;
  /** Writes one that no entry names, as it is since `createdAt`. Changes nothing where a newer record is there. */
  put(object: UpstreamObject): Promise<void>;
  /** Removes what expired before `now` (Unix milliseconds), in bounded batches. Resolves to how many were removed. */
  prune(now: number): Promise<number>;
}
