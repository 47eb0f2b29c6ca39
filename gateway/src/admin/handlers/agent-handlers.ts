import { type Actor, bounds, type ConfigSnapshot, Failure, roleIn } from "#core/index.ts";
import type { AgentStore } from "#directory/index.ts";
import type { AgentSignIn } from "#identity/index.ts";
import { type AgentUsageDependencies, agentUsage } from "./agent-usage.ts";
import type { Handlers } from "./handler.ts";
import { requireActor } from "./require-actor.ts";
import { neededWords, workspaceNamed } from "./who-calls.ts";

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
