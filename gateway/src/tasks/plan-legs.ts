import type { Deployment, Task } from "#core/index.ts";
import { Failure } from "#core/index.ts";
import type { Wishes } from "#routing/index.ts";
import { takes } from "./check-capabilities.ts";
import type { TaskHouse } from "./house.ts";
import { unknownTask } from "./references.ts";
import type { VideoRequest } from "./validate-video.ts";

/** One part of the walk: which deployments may be asked in it. */
export type Leg = Pick<Wishes, "suits" | "provider">;

export interface SubmitMeans {
  readonly legs: readonly Leg[];
  /** Of the tasks that this one goes on from, by our ids. */
  readonly upstreamIds: ReadonlyMap<string, string>;
}

/**
 * In which order accounts may be asked. What goes on from an earlier task can only be made by the account that has it;
 * accounts that hold the assets come first, and the others after them, where the assets are then bound anew.
 */
export async function planLegs(house: TaskHouse, task: Task, request: VideoRequest): Promise<SubmitMeans> {
  const { upstreamIds, provider, upstreamModel } = await earlierTasks(house, task.workspaceId, request);
  const suits = (deployment: Deployment): boolean =>
    takes(deployment, request) && (upstreamModel === null || deployment.upstreamModel === upstreamModel);
  if (provider !== null) return { legs: [{ suits, provider }], upstreamIds };
  const holders = await holdersOf(house, task.workspaceId, request.references.assetIds);
  if (holders === null) return { legs: [{ suits }], upstreamIds };
  const holds = ({ provider: { id } }: Deployment): boolean => holders.includes(id);
  return {
    legs: [
      { suits: (deployment) => suits(deployment) && holds(deployment) },
      { suits: (deployment) => suits(deployment) && !holds(deployment) },
    ],
    upstreamIds,
  };
}

/** Throws asset_not_found, or invalid_request for one that is not Active: also to check before a task is accepted. */
export async function holdersOf(
  { assets }: Pick<TaskHouse, "assets">,
  workspaceId: string,
  assetIds: readonly string[],
): Promise<readonly string[] | null> {
  const [first] = assetIds;
  if (first === undefined) return null;
  if (assets === null) throw new Failure("asset_not_found", `There is no asset with the id "${first}".`);
  const holders = await assets.holders(workspaceId, assetIds);
  return holders === null || holders.length === 0 ? null : holders;
}

/** Throws task_not_found for what this workspace does not have, and for what no upstream has. */
export async function earlierTasks(
  { store }: Pick<TaskHouse, "store">,
  workspaceId: string,
  { references, asked: { remixOf } }: Pick<VideoRequest, "references" | "asked">,
): Promise<EarlierTasks> {
  const upstreamIds = new Map<string, string>();
  let provider: string | null = null;
  let remixed: Task | null = null;
  for (const id of remixOf === undefined ? references.taskIds : [remixOf]) {
    const earlier = await store.find(workspaceId, id);
    if (earlier === null || (remixOf === undefined && (earlier.upstreamId === null || earlier.account === null))) {
      throw unknownTask(id, remixOf === undefined ? "content" : "remix_of");
    }
    if (remixOf !== undefined) remixed = earlier;
    upstreamIds.set(id, earlier.upstreamId ?? "");
    provider ??= earlier.account?.providerId ?? null;
  }
  return { upstreamIds, provider, upstreamModel: remixed?.upstreamModel ?? null, remixed };
}

/** What a task goes on from. */
export interface EarlierTasks {
  readonly upstreamIds: ReadonlyMap<string, string>;
  /** The account that has them. */
  readonly provider: string | null;
  /** Only this makes a remix. */
  readonly upstreamModel: string | null;
  readonly remixed: Task | null;
}
