import type { Deployment, Task } from "#core/index.ts";
import type { RoutingConstraints } from "#routing/index.ts";
import { noSuchAsset, noSuchTask, type VideoRequest } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { supports } from "../video-lanes.ts";

export type SubmitStage = Pick<RoutingConstraints, "canServe" | "provider">;

/**
 * Only the account of an earlier task can continue it. Otherwise accounts that hold the assets come first; in others the
 * assets are bound first.
 */
export async function planStages(
  dependencies: TaskDependencies,
  task: Task,
  request: VideoRequest,
): Promise<{ readonly stages: readonly SubmitStage[]; readonly upstreamIds: ReadonlyMap<string, string> }> {
  const { upstreamIds, provider, upstreamModel } = await earlierTasks(dependencies, task.workspaceId, request);
  const canServe = (deployment: Deployment): boolean =>
    supports(deployment, request) && (upstreamModel === null || deployment.upstreamModel === upstreamModel);
  if (provider !== null) return { stages: [{ canServe, provider }], upstreamIds };
  const holders = await holdersOf(dependencies, task.workspaceId, request.references.assetIds);
  if (holders === null) return { stages: [{ canServe }], upstreamIds };
  const holds = ({ provider: { id } }: Deployment): boolean => holders.includes(id);
  return {
    stages: [
      { canServe: (deployment) => canServe(deployment) && holds(deployment) },
      { canServe: (deployment) => canServe(deployment) && !holds(deployment) },
    ],
    upstreamIds,
  };
}

/** The accounts that hold all of the assets. Throws asset_not_found, or invalid_request if one is not Active. */
export async function holdersOf(
  { assets }: Pick<TaskDependencies, "assets">,
  workspaceId: string,
  assetIds: readonly string[],
): Promise<readonly string[] | null> {
  const [first] = assetIds;
  if (first === undefined) return null;
  if (assets === null) throw noSuchAsset(first);
  return assets.holders(workspaceId, assetIds);
}

/**
 * Resolves the tasks that a request continues: their upstream ids by our ids, their account, and the upstream model that a
 * remix must use. Throws task_not_found if the workspace has no such task, or no upstream has it.
 */
export async function earlierTasks(
  { store }: Pick<TaskDependencies, "store">,
  workspaceId: string,
  { references, params: { remixOf } }: Pick<VideoRequest, "references" | "params">,
) {
  const upstreamIds: Map<string, string> = new Map();
  let provider: string | null = null;
  let remixed: Task | null = null;
  for (const id of remixOf === undefined ? references.taskIds : [remixOf]) {
    const earlier = await store.find(workspaceId, id);
    if (earlier === null || (remixOf === undefined && (earlier.upstreamId === null || earlier.account === null))) {
      throw noSuchTask(id, remixOf === undefined ? "content" : "remix_of");
    }
    if (remixOf !== undefined) remixed = earlier;
    upstreamIds.set(id, earlier.upstreamId ?? "");
    provider ??= earlier.account?.providerId ?? null;
  }
  return { upstreamIds, provider, upstreamModel: remixed?.upstreamModel ?? null, remixed };
}
