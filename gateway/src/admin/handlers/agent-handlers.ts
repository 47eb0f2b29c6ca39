import type { AnswerOf } from "@sluice/contract";
import { checkAgentSettings, type SettingsRemark } from "@sluice/contract/agent-settings";
import {
  type Actor,
  type ApiKey,
  bounds,
  type ConfigSnapshot,
  columnsOf,
  Failure,
  invalidRequest,
  nanoToUsd,
  orNotFound,
  roleIn,
} from "#core/index.ts";
import type { AgentSession, AgentSettingsVersion, AgentStore, CurrentAgentSettings } from "#directory/index.ts";
import { isOfObject, limitView } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { needText, visibleWorkspaces, workspaceNamed } from "./callers.ts";
import { type ConsoleCall, type Handlers, oneWorkspace } from "./calls.ts";
import { callsOrigin } from "./origins.ts";

/** Workspaces per answer. */
const agentUsageWorkspacesMax = 50;

/** Sign-ins of coding agents. Only a session may confirm one: a token that could would be able to sign in for itself. */
export function agentHandlers(dependencies: ConsoleDependencies) {
  const { agentSignIn, agents, configSnapshot } = dependencies;
  return {
    "agents.findDevice": async ({ actor, body, ip }) => {
      const person = requireConsoleUser(actor);
      const device = await agentSignIn.findDevice(body.code, { userId: person.userId, ip });
      const { userCode: code, ...shown } = device;
      return {
        code,
        ...columnsOf(shown),
        workspaces: workspacesForAgents(person, configSnapshot()),
      };
    },
    "agents.approve": async ({ actor, body, ip, auditSource }) => {
      const person = requireConsoleUser(actor);
      const workspace = workspaceNamed(body.workspace, person, configSnapshot());
      if (workspace === null) {
        throw invalidRequest("workspace", "An agent works in one workspace. Set `workspace`.");
      }
      await agentSignIn.approve(body.code, { userId: person.userId, ip, workspaceId: workspace.id }, auditSource);
    },
    "agents.deny": ({ actor, body, ip, auditSource }) =>
      agentSignIn.deny(body.code, { userId: requireConsoleUser(actor).userId, ip }, auditSource),
    "agents.list": async ({ actor }) => {
      const sessions = await agents.sessions({ userId: actor.userId });
      return {
        data: sessions.filter(isVisibleTo(actor)).map(agentRow),
      };
    },
    "agents.usage": ({ actor }) => agentUsage(dependencies, actor.userId, isVisibleTo(actor)),
    "agents.end": async ({ actor, params, auditSource }) => {
      await checkTokenRole(actor, params.agent, agents);
      const owner = actor.administrator ? null : actor.userId;
      orNotFound((await agents.endSession(params.agent, owner, auditSource)) || null, "sign-in", "agent");
    },
    "agents.settings": async (call) => settingsAnswer(await agents.settingsIn(groupOf(call))),
    "agents.setSettings": async (call) => {
      const { settings, replaces } = call.body;
      const { errors, warnings } = checkAgentSettings(settings ?? {});
      const [wrong] = errors;
      if (wrong !== undefined) throw invalidSetting(wrong, errors.length);
      const now = await agents.setSettings({ ...groupOf(call), settings, replaces }, call.auditSource);
      return { ...settingsAnswer(now), warnings };
    },
    "agents.settingsVersions": async (call) => ({
      data: (await agents.settingsVersions(groupOf(call))).map(versionRow),
    }),
    "agents.settingsVersion": async (call) => {
      const version = /^[1-9]\d{0,8}$/.test(call.params.version) ? Number(call.params.version) : 0;
      const stored = orNotFound(await agents.settingsVersion({ ...groupOf(call), version }), "version", "version");
      return { ...versionRow(stored), settings: parsedObject(stored.text) };
    },
    "agents.previewSettings": async (call) => {
      const member = { workspaceId: oneWorkspace(call).id, person: call.query.person };
      const preview = orNotFound(await agents.previewSettings(member), "member in this workspace", "person");
      const { person, group, by, maySignIn } = preview;
      const settings = await dependencies.agentSettings(group.id, callsOrigin(dependencies, call.request));
      return {
        ...{ person, group, by },
        may_sign_in: maySignIn,
        settings: parsedObject(settings?.text ?? null),
        checksum: settings?.checksum ?? null,
      };
    },
  } satisfies Partial<Handlers>;
}

export function agentRow(session: AgentSession) {
  const { userId: _userId, workspaceId: id, workspaceSlug: slug, keyId: key, ...shown } = session;
  return { ...columnsOf(shown), key, workspace: { id, slug } };
}

/** Users see all their agent sign-ins; their tokens only those in the token's workspaces. */
function isVisibleTo(actor: Actor): (place: { readonly workspaceId: string }) => boolean {
  return ({ workspaceId }) => actor.kind === "user" || roleIn(actor, workspaceId) !== null;
}

/** A token that may not confirm sign-ins in this workspace may not refuse them either. */
async function checkTokenRole(actor: Actor, id: string, agents: Pick<AgentStore, "sessions">): Promise<void> {
  if (actor.kind === "user" || actor.administrator) return;
  const sessions = (await agents.sessions({ userId: actor.userId })).filter(isVisibleTo(actor));
  const session = orNotFound(
    sessions.find((each) => each.id === id),
    "sign-in",
    "agent",
  );
  if (roleIn(actor, session.workspaceId) === "viewer") {
    throw new Failure("forbidden", `This needs ${needText("member")}.`);
  }
}

function requireConsoleUser(actor: Actor): Actor {
  if (actor.kind === "user") return actor;
  throw new Failure("forbidden", "Only a user who is signed in to the console can confirm a device.");
}

/** The workspaces in which the user may create keys, by name. */
function workspacesForAgents(person: Actor, configSnapshot: ConfigSnapshot) {
  return visibleWorkspaces(person, configSnapshot)
    .filter(({ id, enabled }) => enabled && roleIn(person, id) !== "viewer")
    .slice(0, bounds.sessionWorkspacesMax)
    .map(({ id, slug, name }) => ({ id, slug, name }));
}

/**
 * Usage of a user's agents in this month (UTC) by workspace, and the state of every limit that applies. `isSeen` selects the workspaces.
 */
async function agentUsage(
  { agents, reports, admission, configSnapshot, clock }: ConsoleDependencies,
  userId: string,
  isSeen: (place: Pick<ApiKey, "workspaceId">) => boolean,
): Promise<AnswerOf<"agents.usage">> {
  const now = clock.now();
  const month = new Date(now);
  const from = Date.UTC(month.getUTCFullYear(), month.getUTCMonth());
  const keys = (await agents.keysOf(userId)).filter(isSeen).slice(0, agentUsageWorkspacesMax);
  const { workspaces, groups } = configSnapshot();
  const rowOf = async (key: ApiKey) => {
    const [sums, limitUsages] = await Promise.all([
      reports.keyUsage(key.id, { from, to: now + 1 }),
      admission.limitUsages(
        [workspaces.get(key.workspaceId)?.scope, groups.get(key.groupId)?.scope, key.personScope, key.scope].filter(
          (scope) => scope !== undefined,
        ),
      ),
    ]);
    const nanoUsd = sums.reduce((total, sum) => total + sum.costNanoUsd, 0);
    return {
      key: key.id,
      workspace: { id: key.workspaceId, slug: workspaces.get(key.workspaceId)?.slug ?? key.workspaceId },
      group: groups.get(key.groupId)?.name ?? key.groupId,
      requests: sums.reduce((total, sum) => total + sum.requests, 0),
      cost_usd: nanoToUsd(nanoUsd),
      limits: limitUsages
        .filter(isOfObject)
        .filter(({ isShadow }) => !isShadow)
        .map(limitView),
    };
  };
  const data = [];
  for (const key of keys) data.push(await rowOf(key));
  return { from, data };
}

function invalidSetting({ path, expected }: SettingsRemark, all: number): Failure {
  const more = all === 1 ? "" : ` ${all - 1} more are wrong.`;
  return invalidRequest(`settings.${path}`, `settings.${path} must be of type ${expected.join(" or ")}.${more}`);
}

function settingsAnswer({ settings, version }: CurrentAgentSettings) {
  return {
    settings: parsedObject(settings?.text ?? null),
    checksum: settings?.checksum ?? null,
    updated_at: settings?.updatedAt ?? null,
    version: version?.version ?? null,
    updated_by: version?.by ?? null,
  };
}

const versionRow = ({ version, at, by, checksum }: AgentSettingsVersion) => ({ version, at, by, checksum });

function groupOf(call: Pick<ConsoleCall<"agents.settings">, "workspace" | "params">) {
  return { workspaceId: oneWorkspace(call).id, group: call.params.group };
}

function parsedObject(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
