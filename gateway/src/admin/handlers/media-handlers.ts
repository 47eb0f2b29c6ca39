import type { AuditAction, AuditObject } from "@sluice/contract/words";
import type { Assets } from "#assets/index.ts";
import { type ConfigSnapshot, statesShownAs } from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import type { Clock } from "#ports/index.ts";
import type { VideoTasks } from "#tasks/index.ts";
import type { ConsoleCall, Handlers } from "./handler.ts";
import { KeyNames } from "./key-names.ts";
import { assetView, groupView, taskDetail, taskView } from "./media-views.ts";
import { oneWorkspace } from "./one-workspace.ts";
import { seenOnly } from "./seen-people.ts";
import { checkTask } from "./seen-task.ts";

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
