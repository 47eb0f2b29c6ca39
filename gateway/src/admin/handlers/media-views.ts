import { type ConsoleAsset, type ConsoleTask, storedRemark, type TaskDetail } from "@sluice/contract";
import {
  type Asset,
  type AssetGroup,
  type ConfigSnapshot,
  shownState,
  type Task,
  type TaskEvent,
} from "#core/index.ts";
import type { Delivery } from "#ports/index.ts";
import { requestShown, taskCost } from "#tasks/index.ts";

interface Facts {
  readonly configSnapshot: ConfigSnapshot;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A task as the console's lists show it. */
export function taskView(task: Task, keyName: string, { configSnapshot, now }: Facts): ConsoleTask {
  const { asked } = task;
  const cost = taskCost(task);
  return {
    id: task.id,
    workspace: { id: task.workspaceId, slug: configSnapshot.workspaces.get(task.workspaceId)?.slug ?? "" },
    key: { id: task.keyId, name: keyName },
    model: task.model,
    provider: task.account?.providerId ?? null,
    status: shownState(task.state),
    progress: task.progress,
    prompt: asked.prompt,
    ratio: asked.ratio,
    resolution: asked.resolution,
    duration: asked.durationSeconds,
    error: task.error,
    has_content: hasContent(task, now),
    cost_usd: cost?.amount_usd ?? null,
    cost_estimated: cost?.estimated ?? false,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    started_at: task.startedAt,
    finished_at: task.finishedAt,
    expires_at: task.deadlineAt,
  };
}

/** A copy of ours is there for good, the vendor's until its link expires. */
function hasContent({ output }: Task, now: number): boolean {
  if (output === null) return false;
  return output.blobHash !== null || output.expiresAt === null || output.expiresAt * 1_000 > now;
}

/** With its body, its history as it is (callers are not told of every step), and the messages to its caller. */
export function taskDetail(
  task: Task,
  view: ConsoleTask,
  events: readonly TaskEvent[],
  deliveries: readonly Delivery[],
): TaskDetail {
  const { request, whole } = requestShown(task);
  return {
    ...view,
    request_id: task.requestId,
    request,
    request_whole: whole,
    events: events.map(({ at, state, detail }) => ({
      at,
      status: state,
      detail: detail === "" ? null : detail,
      note: storedRemark("taskEvent", detail),
    })),
    deliveries: deliveries.map((delivery) => ({
      url: delivery.url,
      tries: delivery.tries,
      delivered_at: delivery.deliveredAt,
      next_at: delivery.deliveredAt === null ? delivery.dueAt : null,
      last_status: delivery.lastStatus,
      last_error: delivery.lastError,
      fault: storedRemark("callback", delivery.lastError),
    })),
  };
}

export function groupView(group: AssetGroup) {
  return {
    id: group.id,
    platform: group.platform,
    name: group.name,
    description: group.description,
    created_at: group.createdAt,
  };
}

export function assetView(asset: Asset): ConsoleAsset {
  return {
    id: asset.id,
    group_id: asset.groupId,
    platform: asset.platform,
    name: asset.name,
    asset_type: asset.type,
    status: asset.status,
    error: asset.error,
    size_bytes: asset.sizeBytes,
    content_type: asset.contentType,
    has_content: asset.blobHash !== null && asset.contentType !== null,
    created_at: asset.createdAt,
    updated_at: asset.updatedAt,
  };
}
