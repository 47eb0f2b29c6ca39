import type { ConsoleAsset, ConsoleTask, TaskDetail } from "@sluice/contract";
import { type AuditAction, type AuditObject, storedRemark } from "@sluice/contract/words";
import {
  type Asset,
  type AssetGroup,
  columnsOf,
  shownState,
  statesShownAs,
  type Task,
  type TaskEvent,
  type WebhookDelivery,
  withoutUndefined,
} from "#core/index.ts";
import { requestShown, type TaskFilter, taskCost } from "#tasks/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkTaskVisible, visiblePerson } from "./callers.ts";
import { type ConsoleCall, type Handlers, oneWorkspace, pageSize } from "./calls.ts";
import { keyNames } from "./key-names.ts";
import { countOf } from "./list-count.ts";

export function mediaHandlers(dependencies: ConsoleDependencies) {
  const { videos, assets, people, configSnapshot, clock } = dependencies;
  const { nameOf, namesOf } = keyNames(dependencies);
  const view = (task: Task, keyName: string) =>
    taskView(task, keyName, configSnapshot().workspaces.get(task.workspaceId)?.slug ?? "", clock.now());
  const audit = (call: Removal, action: AuditAction, object: AuditObject) =>
    people.note({ action, object, workspaceId: oneWorkspace(call).id }, call.auditSource);
  return {
    async "tasks.list"(call) {
      const { workspace, query } = call;
      const filter: TaskFilter = {
        visiblePerson: visiblePerson(call),
        workspaceId: workspace?.id ?? null,
        ...(query.status === undefined ? {} : { states: statesShownAs(query.status) }),
        ...withoutUndefined({ model: query.model, keyId: query.key }),
      };
      const [{ tasks, next }, count] = await Promise.all([
        videos.page(filter, query.cursor ?? null, query.limit ?? pageSize),
        countOf(dependencies, { list: "tasks", filter }),
      ]);
      const names = await namesOf(tasks.map((task) => task.keyId));
      return { data: tasks.map((task) => view(task, names.get(task.keyId) ?? "")), next, ...count };
    },
    async "tasks.show"(call) {
      const workspace = oneWorkspace(call);
      await checkTaskVisible(call, videos, workspace, call.params.task);
      const task = await videos.get(workspace.id, call.params.task);
      const [events, deliveries, keyName] = await Promise.all([
        videos.events(workspace.id, task.id),
        videos.deliveries(workspace.id, task.id),
        nameOf(task.keyId),
      ]);
      return taskDetail(task, view(task, keyName), events, deliveries);
    },
    async "tasks.cancel"(call) {
      const workspace = oneWorkspace(call);
      await checkTaskVisible(call, videos, workspace, call.params.task);
      const task = await videos.cancel(workspace.id, call.params.task);
      await audit(call, "cancel", `video task ${task.id}`);
      return view(task, await nameOf(task.keyId));
    },
    async "assetGroups.list"(call) {
      const { cursor, limit } = call.query;
      const page = await assets.groups(oneWorkspace(call).id, null, cursor ?? null, limit ?? pageSize);
      return { data: page.groups.map(groupView), next: page.next };
    },
    async "assetGroups.remove"(call) {
      await assets.deleteGroup(oneWorkspace(call).id, call.params.group, call.signal);
      await audit(call, "remove", `asset group ${call.params.group}`);
    },
    async "assets.list"(call) {
      const { group, cursor, limit } = call.query;
      const filter = { platform: null, groupId: group ?? null, status: null };
      const { id: workspaceId } = oneWorkspace(call);
      const [page, count] = await Promise.all([
        assets.assets(workspaceId, filter, cursor ?? null, limit ?? pageSize),
        countOf(dependencies, { list: "assets", filter: { workspaceId, ...withoutUndefined({ groupId: group }) } }),
      ]);
      return { data: page.assets.map(assetView), next: page.next, ...count };
    },
    async "assets.remove"(call) {
      await assets.deleteAsset(oneWorkspace(call).id, call.params.asset, call.signal);
      await audit(call, "remove", `asset ${call.params.asset}`);
    },
  } satisfies Partial<Handlers>;
}

type Removal = Pick<ConsoleCall<"tasks.cancel">, "workspace" | "auditSource">;

function taskView(task: Task, keyName: string, slug: string, now: number): ConsoleTask {
  const { id, model, progress, error, createdAt, updatedAt, startedAt, finishedAt } = task;
  const { prompt, ratio, resolution, durationSeconds: duration } = task.params;
  const cost = taskCost(task);
  return {
    ...columnsOf({ id, model, progress, error, createdAt, updatedAt, startedAt, finishedAt }),
    ...{ prompt, ratio, resolution, duration },
    workspace: { id: task.workspaceId, slug },
    key: { id: task.keyId, name: keyName },
    provider: task.account?.providerId ?? null,
    status: shownState(task.state),
    has_content: hasContent(task, now),
    cost_usd: cost?.amount_usd ?? null,
    cost_estimated: cost?.estimated ?? false,
    expires_at: task.deadlineAt,
  };
}

/** Our copy stays; the vendor's is available until its link expires. */
function hasContent({ output }: Task, now: number): boolean {
  if (output === null) return false;
  return output.blobHash !== null || output.expiresAt === null || output.expiresAt * 1_000 > now;
}

/** With its body, its full history (callers see only part of it) and the callbacks sent. */
function taskDetail(
  task: Task,
  view: ConsoleTask,
  events: readonly TaskEvent[],
  deliveries: readonly WebhookDelivery[],
): TaskDetail {
  const { request, complete: whole } = requestShown(task);
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
    deliveries: deliveries.map(({ url, tries, deliveredAt, dueAt, lastStatus, lastError }) => ({
      ...columnsOf({ url, tries, deliveredAt, lastStatus, lastError }),
      next_at: deliveredAt === null ? dueAt : null,
      fault: storedRemark("callback", lastError),
    })),
  };
}

function groupView({ id, platform, name, description, createdAt }: AssetGroup) {
  return { id, platform, name, description, created_at: createdAt };
}

function assetView(asset: Asset): ConsoleAsset {
  const { id, groupId, platform, name, type, status, error, sizeBytes, contentType, createdAt, updatedAt } = asset;
  return {
    ...columnsOf({ id, groupId, platform, name, status, error, sizeBytes, contentType, createdAt, updatedAt }),
    asset_type: type,
    has_content: asset.blobHash !== null && contentType !== null,
  };
}
