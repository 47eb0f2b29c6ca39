import type { Deployment, Task } from "#core/index.ts";
import type { RoutingConstraints } from "#routing/index.ts";
import { noSuchAsset, noSuchTask, type VideoRequest } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { takes } from "../video-lanes.ts";

/** One part of the walk: which deployments may be asked in it. */
export type SubmitStage = Pick<RoutingConstraints, "canServe" | "provider">;

/**
 * In which order accounts may be asked. What goes on from an earlier task can only be made by the account that has it;
 * accounts that hold the assets come first, and the others after them, where the assets are then bound anew.
 */
export async function planStages(
  dependencies: TaskDependencies,
  task: Task,
  request: VideoRequest,
): Promise<{ readonly stages: readonly SubmitStage[]; readonly upstreamIds: ReadonlyMap<string, string> }> {
  const { upstreamIds, provider, upstreamModel } = await earlierTasks(dependencies, task.workspaceId, request);
  const canServe = (deployment: Deployment): boolean =>
    takes(deployment, request) && (upstreamModel === null || deployment.upstreamModel === upstreamModel);
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

/** Throws asset_not_found, or invalid_request for one that is not Active: also to check before a task is accepted. */
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
 * What a task goes on from: by our ids those at the upstream, the account that has them, and of a remix the only model that makes
 * it. Throws task_not_found for what this workspace does not have, and for what no upstream has.
 */
export async function earlierTasks(
  { store }: Pick<TaskDependencies, "store">,
  workspaceId: string,
  { references, asked: { remixOf } }: Pick<VideoRequest, "references" | "asked">,
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
