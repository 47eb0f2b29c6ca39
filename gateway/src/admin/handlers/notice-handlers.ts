import { storedRemark } from "@sluice/contract";
import {
  bounds,
  Failure,
  invalidRequest,
  orNotFound,
  personOf,
  personOfScope,
  type Workspace,
  withoutUndefined,
} from "#core/index.ts";
import type { NoticeFields, StoredNotice } from "#directory/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { mailRateLimit } from "../throttle.ts";
import { type Viewer, visiblePerson } from "./callers.ts";
import { type Handlers, oneWorkspace } from "./calls.ts";

export function noticeHandlers(dependencies: ConsoleDependencies) {
  const { notices } = dependencies;
  const tests = mailRateLimit("alert-test", dependencies.openTries);
  return {
    "notices.list": async (call) => {
      const all = await notices.list(call.workspace?.id ?? null);
      return { data: (await visibleNotices(call, all, dependencies)).map(noticeView), next: null };
    },
    "notices.create": async ({ workspace, body, auditSource }) => {
      const home = oneWorkspace({ workspace });
      if ((await notices.list(home.id)).length >= bounds.noticesPerWorkspaceMax) {
        throw new Failure("conflict", `A workspace can have at most ${bounds.noticesPerWorkspaceMax} alerts.`);
      }
      await checkScope(dependencies, home, body);
      return noticeView(await notices.create(home.id, body, auditSource));
    },
    "notices.update": async ({ workspace, params, body, auditSource }) => {
      const notice = await requireNotice(dependencies, workspace, params.notice);
      const fields = withoutUndefined(body);
      await checkScope(dependencies, oneWorkspace({ workspace }), { ...notice, ...fields });
      return noticeView((await notices.update(notice.id, fields, auditSource)) ?? notice);
    },
    "notices.remove": async ({ workspace, params, auditSource }) => {
      await notices.remove((await requireNotice(dependencies, workspace, params.notice)).id, auditSource);
    },
    "notices.test": async ({ workspace, params, signal }) => {
      const home = oneWorkspace({ workspace });
      const notice = await requireNotice(dependencies, home, params.notice);
      await tests.take(home.id);
      const began = dependencies.clock.monotonic();
      const message = {
        noticeId: notice.id,
        budget: "test",
        periodStart: dependencies.clock.now(),
        percent: notice.percent[0] ?? 100,
        label: `workspace ${home.slug}`,
        usedUsd: 0,
        limitUsd: 0,
        workspaceId: home.id,
        workspaceSlug: home.slug,
        noticeName: notice.name,
        test: true,
      };
      const problem = await dependencies.noticeSender.send(notice.channel, message, signal);
      return {
        ok: problem === null,
        problem,
        fault: storedRemark("alert", problem),
        ms: dependencies.clock.monotonic() - began,
      };
    },
  } satisfies Partial<Handlers>;
}

/** An alert on the budget of a user or a personal key reveals spend, as does the last message of an alert on all budgets. */
async function visibleNotices(
  viewer: Viewer,
  all: readonly StoredNotice[],
  { controlStore }: ConsoleDependencies,
): Promise<readonly StoredNotice[]> {
  const own = visiblePerson(viewer);
  if (own === null) return all;
  const seen: StoredNotice[] = [];
  const isSeen = async (kind: StoredNotice["scope"], id: string | null) => {
    if (id === null || (kind !== "person" && kind !== "key")) return true;
    const key = kind === "key" ? await controlStore.keyById(id) : null;
    const personId = kind === "person" ? id : key === null ? null : personOf(key);
    return personId === null || personId === own;
  };
  for (const notice of all) {
    const { scope, scope_id: id, lastScope } = notice;
    if (!(await isSeen(scope, id))) continue;
    const lastId = lastScope?.kind === "person" ? personOfScope(lastScope.id)[1] : (lastScope?.id ?? null);
    seen.push((await isSeen(lastScope?.kind ?? null, lastId)) ? notice : { ...notice, last: null });
  }
  return seen;
}

function noticeView({ workspaceId: _workspaceId, lastScope: _lastScope, ...notice }: StoredNotice) {
  return notice;
}

async function requireNotice(
  dependencies: ConsoleDependencies,
  workspace: Workspace | null,
  id: string,
): Promise<StoredNotice> {
  const notice = await dependencies.notices.find(id);
  return orNotFound(
    notice !== null && notice.workspaceId === oneWorkspace({ workspace }).id ? notice : null,
    "notice",
    "notice",
  );
}

/** The scope of an alert must belong to its workspace. */
async function checkScope(
  { configSnapshot, controlStore, people }: ConsoleDependencies,
  workspace: Workspace,
  { scope, scope_id: id }: Pick<NoticeFields, "scope" | "scope_id">,
): Promise<void> {
  if (scope === null || id === null) return;
  const owners = {
    workspace: () => configSnapshot().workspaces.get(id)?.id,
    group: () => configSnapshot().groups.get(id)?.workspaceId,
    person: async () => (await people.user(id))?.workspaces.find((each) => each.id === workspace.id)?.id,
    key: async () => (await controlStore.keyById(id))?.workspaceId,
  };
  if ((await owners[scope]()) !== workspace.id) {
    throw invalidRequest("scope_id", `This workspace has no such ${scope}.`);
  }
}
