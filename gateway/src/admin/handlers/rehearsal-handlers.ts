import type { BodyOf, Rehearsal, RehearsedChange } from "@sluice/contract";
import { rehearsalDaysMax } from "@sluice/contract/console";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import { type Actor, Failure, invalidRequest, orNotFound, type Workspace } from "#core/index.ts";
import { usableCheck } from "#directory/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { guardrailRehearsal } from "../guardrail-rehearsal.ts";
import { needText, roleHeldBy, workspaceNamed } from "./callers.ts";
import { type Handlers, pageSize } from "./calls.ts";

const dayMs = 86_400_000;

/** Changes of the configuration, tried on past calls. */
export function rehearsalHandlers(dependencies: ConsoleDependencies) {
  const { rehearsals, configSnapshot, clock, people } = dependencies;
  /** Throws `not_found` also without the rights. */
  const visible = async (actor: Actor, id: string) => {
    const found = await (await rehearsals()).store.find(actor.userId, id);
    return orNotFound(maySee(actor, found) ? found : null, "rehearsal");
  };
  return {
    "rehearsals.create": async ({ actor, body, auditSource }) => {
      const { change } = body;
      const workspace = body.workspace === undefined ? null : workspaceNamed(body.workspace, actor, configSnapshot());
      checkMayChange(actor, change, workspace);
      const span = spanOf(body, clock.now());
      const jobs = await rehearsals();
      const workspaceId = workspace?.id ?? null;
      const guardrails = guardrailsIn(change);
      if (guardrails.length > 0) {
        for (const { check } of guardrails) usableCheck(check);
        // Access to captured content is audited.
        await people.note({ action: "view", object: "captured request search", workspaceId }, auditSource);
      }
      const tryGuardrails = guardrailRehearsal(dependencies, { ...span, workspaceId });
      return await jobs.start({ ownerId: actor.userId, workspaceId, change, ...span }, tryGuardrails);
    },
    "rehearsals.list": async ({ actor, query }) => {
      const { store } = await rehearsals();
      const { data, next } = await store.page(actor.userId, query.cursor ?? null, query.limit ?? pageSize);
      return { data: data.filter((rehearsal) => maySee(actor, rehearsal)), next };
    },
    "rehearsals.get": async ({ actor, params }) => {
      return await visible(actor, params.rehearsal);
    },
    "rehearsals.cancel": async ({ actor, params }) => {
      const { store } = await rehearsals();
      const { id } = await visible(actor, params.rehearsal);
      return await store.cancel(actor.userId, id);
    },
  } satisfies Partial<Handlers>;
}

/** A creator may have lost rights since, or use a token with fewer. */
function maySee(actor: Actor, { workspace }: Pick<Rehearsal, "workspace">): boolean {
  if (actor.administrator) return true;
  return workspace !== null && meets(actor.roles.get(workspace.id) ?? "signed-in", "admin");
}

/** Who may make a change may rehearse it. Throws `forbidden`, or `invalid_request` without the workspace that it needs. */
function checkMayChange(actor: Actor, change: RehearsedChange, workspace: Workspace | null): void {
  if (actor.administrator) return;
  if (workspace === null) {
    throw invalidRequest(
      "workspace",
      "Name your workspace. Only administrators can rehearse changes of all workspaces.",
    );
  }
  const held = roleHeldBy(actor, workspace);
  for (const need of [consoleRoutes["groups.update"].needs, consoleRoutes["keys.update"].needs, "admin"] as const) {
    if (!meets(held, need)) throw new Failure("forbidden", `This needs ${needText(need)}.`);
  }
  if (change.models !== undefined) throw new Failure("forbidden", "Only administrators can change models.");
  if (change.guardrails !== undefined) {
    throw new Failure("forbidden", "Only administrators can change guardrails of the installation.");
  }
  if (change.budgets !== undefined) {
    throw new Failure("forbidden", "Only administrators can change budgets of the installation.");
  }
  for (const config of change.workspaces ?? []) {
    const { slug, groups: _groups, keys: _keys, guardrails: _guardrails, budgets: _budgets, ...own } = config;
    if (slug !== workspace.slug) throw otherWorkspace(workspace);
    if (Object.keys(own).length > 0) {
      throw new Failure("forbidden", "Only administrators can change the limits and models of a workspace itself.");
    }
  }
  for (const user of change.users ?? []) {
    if (user.workspaces.some((place) => place.workspace !== workspace.slug)) throw otherWorkspace(workspace);
  }
}

function guardrailsIn({ guardrails = [], workspaces = [] }: RehearsedChange) {
  return [...guardrails, ...workspaces.flatMap(({ guardrails: own = [] }) => own)];
}

function otherWorkspace({ slug }: Workspace): Failure {
  return new Failure("forbidden", `The change may only name groups, keys and people of the workspace ${slug}.`);
}

function spanOf({ from, to }: BodyOf<"rehearsals.create">, now: number) {
  const end = to ?? now;
  const start = from ?? Math.max(0, end - 7 * dayMs);
  if (start >= end) throw invalidRequest("from", "`from` must be before `to`.");
  if (end - start > rehearsalDaysMax * dayMs) {
    throw invalidRequest("from", `The period must not be longer than ${rehearsalDaysMax} days.`);
  }
  return { from: start, to: end };
}
