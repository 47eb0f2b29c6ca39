import { type ConsoleAsset, type ConsoleTask, storedRemark, type TaskDetail } from "@sluice/contract";
import type { AuditAction, AuditObject } from "@sluice/contract/words";
import type { Assets } from "#assets/index.ts";
import {
  type Asset,
  type AssetGroup,
  type ConfigSnapshot,
  shownState,
  statesShownAs,
  type Task,
  type TaskEvent,
} from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import type { Clock, Delivery } from "#ports/index.ts";
import { requestShown, taskCost, type VideoTasks } from "#tasks/index.ts";
import { type ConsoleCall, type Handlers, oneWorkspace } from "./handler.ts";
import { KeyNames } from "./key-names.ts";
import { checkTask, seenOnly } from "./seen-people.ts";

export interface MediaHandlerDependencies {
  readonly videos: VideoTasks;
  readonly assets: Assets;
  readonly controlStore: ControlStore;
  readonly people: PeopleStore;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/** The calls about video tasks and assets. */
export function mediaHandlers(
  dependencies: MediaHandlerDependencies,
): Handlers<
  | "tasks.list"
  | "tasks.show"
  | "tasks.cancel"
  | "assetGroups.list"
  | "assetGroups.remove"
  | "assets.list"
  | "assets.remove"
> {
  const { videos, assets, people, configSnapshot, clock } = dependencies;
  const keyNames = new KeyNames(dependencies);
  const noted = (call: Removal, action: AuditAction, object: AuditObject) =>
    people.note({ action, object, workspaceId: oneWorkspace(call).id }, call.auditSource);
  return {
    async "tasks.list"(call) {
      const { workspace, query } = call;
      const filter = {
        ...seenOnly(call),
        workspaceId: workspace?.id ?? null,
        ...(query.status === undefined ? {} : { states: statesShownAs(query.status) }),
        ...(query.model === undefined ? {} : { model: query.model }),
        ...(query.key === undefined ? {} : { keyId: query.key }),
      };
      const { tasks, next } = await videos.page(filter, query.cursor ?? null, query.limit ?? pageDefault);
      const names = await keyNames.namesOf(tasks.map((task) => task.keyId));
      const facts = { configSnapshot: configSnapshot(), now: clock.now() };
      return { data: tasks.map((task) => taskView(task, names.get(task.keyId) ?? "", facts)), next };
    },
    async "tasks.show"(call) {
      const workspace = oneWorkspace(call);
      await checkTask(call, videos, workspace, call.params.task);
      const task = await videos.get(workspace.id, call.params.task);
      const [events, deliveries, keyName] = await Promise.all([
        videos.events(workspace.id, task.id),
        videos.deliveries(workspace.id, task.id),
        keyNames.nameOf(task.keyId),
      ]);
      const view = taskView(task, keyName, { configSnapshot: configSnapshot(), now: clock.now() });
      return taskDetail(task, view, events, deliveries);
    },
    async "tasks.cancel"(call) {
      const workspace = oneWorkspace(call);
      await checkTask(call, videos, workspace, call.params.task);
      const task = await videos.cancel(workspace.id, call.params.task);
      await noted(call, "cancel", `video task ${task.id}`);
      return taskView(task, await keyNames.nameOf(task.keyId), { configSnapshot: configSnapshot(), now: clock.now() });
    },
    async "assetGroups.list"(call) {
      const { cursor, limit } = call.query;
      const page = await assets.groups(oneWorkspace(call).id, null, cursor ?? null, limit ?? pageDefault);
      return { data: page.groups.map(groupView), next: page.next };
    },
    async "assetGroups.remove"(call) {
      await assets.deleteGroup(oneWorkspace(call).id, call.params.group, call.signal);
      await noted(call, "remove", `asset group ${call.params.group}`);
      return {};
    },
    async "assets.list"(call) {
      const { group, cursor, limit } = call.query;
      const asked = { platform: null, groupId: group ?? null, status: null };
      const page = await assets.assets(oneWorkspace(call).id, asked, cursor ?? null, limit ?? pageDefault);
      return { data: page.assets.map(assetView), next: page.next };
    },
    async "assets.remove"(call) {
      await assets.deleteAsset(oneWorkspace(call).id, call.params.asset, call.signal);
      await noted(call, "remove", `asset ${call.params.asset}`);
      return {};
    },
  };
}

const pageDefault = 50;

type Removal = Pick<ConsoleCall<"tasks.cancel">, "workspace" | "auditSource">;

interface Facts {
  readonly configSnapshot: ConfigSnapshot;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A task as the console's lists show it. */
function taskView(task: Task, keyName: string, { configSnapshot, now }: Facts): ConsoleTask {
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
function taskDetail(
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

function groupView(group: AssetGroup) {
  return {
    id: group.id,
    platform: group.platform,
    name: group.name,
    description: group.description,
    created_at: group.createdAt,
  };
}

function assetView(asset: Asset): ConsoleAsset {
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
