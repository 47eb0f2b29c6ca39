import type { AnswerOf } from "@sluice/contract";
import { type Actor, type ApiKey, bounds, type ConfigSnapshot, Failure, nanoToUsd, roleIn } from "#core/index.ts";
import type { AgentStore } from "#directory/index.ts";
import type { AgentSignIn } from "#identity/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, ReportStore } from "#ports/index.ts";
import { type Handlers, requireActor } from "./handler.ts";
import { neededWords, workspaceNamed } from "./who-calls.ts";

/** Workspaces whose usage a person sees at once. */
const agentPlacesShownMax = 50;

export interface AgentHandlerDependencies extends AgentUsageDependencies {
  readonly agentSignIn: AgentSignIn;
  readonly agents: Pick<AgentStore, "keysOf">;
  readonly configSnapshot: () => ConfigSnapshot;
}

type AgentCalls = "agents.look" | "agents.approve" | "agents.deny" | "agents.list" | "agents.usage" | "agents.end";

/** Sign-ins of coding agents. Only a person at the console lets one in: a script that could would sign in for itself. */
export function agentHandlers(dependencies: AgentHandlerDependencies): Handlers<AgentCalls> {
  const { agentSignIn, configSnapshot } = dependencies;
  return {
    "agents.look": async ({ actor, body, ip }) => {
      const person = personAtConsole(actor);
      const device = await agentSignIn.look(body.code, { userId: person.userId, ip });
      return {
        code: device.userCode,
        client: device.client,
        ip: device.ip,
        created_at: device.createdAt,
        expires_at: device.expiresAt,
        workspaces: placesOf(person, configSnapshot()),
      };
    },
    "agents.approve": async ({ actor, body, ip, auditSource }) => {
      const person = personAtConsole(actor);
      const workspace = workspaceNamed(body.workspace, person, configSnapshot());
      if (workspace === null) {
        throw new Failure("invalid_request", "An agent calls in one workspace. Name it.", { param: "workspace" });
      }
      await agentSignIn.approve(body.code, { userId: person.userId, ip, workspaceId: workspace.id }, auditSource);
      return {};
    },
    "agents.deny": async ({ actor, body, ip, auditSource }) => {
      await agentSignIn.deny(body.code, { userId: personAtConsole(actor).userId, ip }, auditSource);
      return {};
    },
    "agents.list": async ({ actor }) => {
      const caller = requireActor(actor);
      const sessions = await agentSignIn.sessions(caller.userId);
      return {
        data: sessions.filter(isSeenBy(caller)).map((session) => ({
          id: session.id,
          workspace: { id: session.workspaceId, slug: session.workspaceSlug },
          group: session.group,
          key: session.keyId,
          client: session.client,
          ip: session.ip,
          created_at: session.createdAt,
          refreshed_at: session.refreshedAt,
          expires_at: session.expiresAt,
        })),
      };
    },
    "agents.usage": async ({ actor }) => {
      const caller = requireActor(actor);
      return await agentUsage(dependencies, caller.userId, isSeenBy(caller));
    },
    "agents.end": async ({ actor, params, auditSource }) => {
      const caller = requireActor(actor);
      await checkToken(caller, params.agent, agentSignIn);
      const owner = caller.administrator ? null : caller.userId;
      if (!(await agentSignIn.endSession(params.agent, owner, auditSource))) throw noSignIn();
      return {};
    },
  };
}

/** A person sees their agents wherever they are; a token of theirs, in the workspaces that it is for. */
function isSeenBy(actor: Actor): (place: { readonly workspaceId: string }) => boolean {
  return ({ workspaceId }) => actor.kind === "user" || roleIn(actor, workspaceId) !== null;
}

/** Throws for a token whose role lets no agent in where this one is: it keeps none out either. */
async function checkToken(actor: Actor, id: string, agentSignIn: Pick<AgentSignIn, "sessions">): Promise<void> {
  if (actor.kind === "user" || actor.administrator) return;
  const session = (await agentSignIn.sessions(actor.userId)).filter(isSeenBy(actor)).find((each) => each.id === id);
  if (session === undefined) throw noSignIn();
  if (roleIn(actor, session.workspaceId) === "viewer") {
    throw new Failure("forbidden", `This needs ${neededWords("member")}.`);
  }
}

function noSignIn(): Failure {
  return new Failure("not_found", "There is no such sign-in.", { param: "agent" });
}

function personAtConsole(actor: Actor | null): Actor {
  const person = requireActor(actor);
  if (person.kind === "user") return person;
  throw new Failure("forbidden", "Only a person who is signed in to the console lets a device in.");
}

/** The workspaces where they may make keys, by name. */
function placesOf(person: Actor, { workspaces }: ConfigSnapshot) {
  return [...workspaces.values()]
    .filter(({ id, enabled }) => {
      const role = roleIn(person, id);
      return enabled && role !== null && role !== "viewer";
    })
    .sort(
      (one, other) =>
        Number(person.roles.has(other.id)) - Number(person.roles.has(one.id)) || one.name.localeCompare(other.name),
    )
    .slice(0, bounds.sessionWorkspacesMax)
    .map(({ id, slug, name }) => ({ id, slug, name }));
}

interface AgentUsageDependencies {
  readonly agents: Pick<AgentStore, "keysOf">;
  readonly reports: Pick<ReportStore, "keyUsage">;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
}

/**
 * What somebody's agents have used since the month began (UTC), by workspace, and how they stand against every limit over them.
 * `isSeen`: in which workspaces.
 */
async function agentUsage(
  { agents, reports, admission, configSnapshot, clock }: AgentUsageDependencies,
  userId: string,
  isSeen: (place: Pick<ApiKey, "workspaceId">) => boolean,
): Promise<AnswerOf<"agents.usage">> {
  const now = clock.now();
  const month = new Date(now);
  const from = Date.UTC(month.getUTCFullYear(), month.getUTCMonth());
  const keys = (await agents.keysOf(userId)).filter(isSeen).slice(0, agentPlacesShownMax);
  const { workspaces, groups } = configSnapshot();
  const rowOf = async (key: ApiKey) => {
    const [sums, limitUsages] = await Promise.all([
      reports.keyUsage(key.id, from, now + 1),
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
      limits: limitUsages.map((limitUsage) => ({
        scope: limitUsage.scope,
        kind: limitUsage.name,
        period: limitUsage.period,
        limit: limitUsage.limit,
        used: limitUsage.used,
        resets_at: limitUsage.resetsAt === null ? null : limitUsage.resetsAt * 1_000,
      })),
    };
  };
  const data = [];
  for (const key of keys) data.push(await rowOf(key));
  return { from, data };
}
