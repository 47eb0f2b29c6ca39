import type { BodyOf, Rehearsal, RehearsedChange } from "@sluice/contract";
import { rehearsalDaysMax } from "@sluice/contract/console";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import { type Actor, Failure, invalidRequest, orNotFound, type Workspace } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { needText, roleHeldBy, workspaceNamed } from "./callers.ts";
import { type Handlers, pageSize } from "./calls.ts";

const dayMs = 86_400_000;

/** Changes of the configuration, tried on past calls. */
export function rehearsalHandlers(dependencies: ConsoleDependencies) {
  const { rehearsals, configSnapshot, clock, people } = dependencies;
  /** Throws `not_found` also without the rights. */
  const visible = async (actor: Actor, id: string) => {
    const found = await (await rehearsals()).store.find(id);
    return orNotFound(maySee(actor, found) ? found : null, "rehearsal");
  };
  /** Who may make a change may see its rehearsals. A creator may have lost rights since, or use a token with fewer. */
  const maySee = (actor: Actor, { change, workspace }: Pick<Rehearsal, "change" | "workspace">): boolean => {
    const own = workspace === null ? null : (configSnapshot().workspaces.get(workspace.id) ?? null);
    return refusalToChange(actor, change, own) === null;
  };
  return {
    "rehearsals.create": async ({ actor, body, auditSource }) => {
      const { change } = body;
      const workspace = body.workspace === undefined ? null : workspaceNamed(body.workspace, actor, configSnapshot());
      const refusal = refusalToChange(actor, change, workspace);
      if (refusal !== null) throw refusal;
      const span = spanOf(body, clock.now());
      const jobs = await rehearsals();
      const workspaceId = workspace?.id ?? null;
      if (readsCaptures(change)) {
        // Access to captured content is audited.
        await people.note({ action: "view", object: "captured request search", workspaceId }, auditSource);
      }
      return await jobs.start({ ownerId: actor.userId, workspaceId, change, ...span });
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
      return await store.cancel(id);
    },
  } satisfies Partial<Handlers>;
}

/** Who may make a change may rehearse it. null: this one may. `workspace` null: all workspaces. */
function refusalToChange(actor: Actor, change: RehearsedChange, workspace: Workspace | null): Failure | null {
  if (actor.administrator) return null;
  if (workspace === null) {
    return invalidRequest(
      "workspace",
      "Name your workspace. Only administrators can rehearse changes of all workspaces.",
    );
  }
  const held = roleHeldBy(actor, workspace);
  for (const need of [consoleRoutes["groups.update"].needs, consoleRoutes["keys.update"].needs, "admin"] as const) {
    if (!meets(held, need)) return forbidden(`This needs ${needText(need)}.`);
  }
  if (change.models !== undefined) return forbidden("Only administrators can change models.");
  if (change.guardrails !== undefined) {
    return forbidden("Only administrators can change guardrails of the installation.");
  }
  if (change.budgets !== undefined) return forbidden("Only administrators can change budgets of the installation.");
  for (const config of change.workspaces ?? []) {
    const { slug, groups: _groups, keys: _keys, guardrails: _guardrails, budgets: _budgets, ...own } = config;
    if (slug !== workspace.slug) return otherWorkspace(workspace);
    if (Object.keys(own).length > 0) {
      return forbidden("Only administrators can change the limits and models of a workspace itself.");
    }
  }
  const isElsewhere = (change.users ?? []).some((user) =>
    user.workspaces.some((place) => place.workspace !== workspace.slug),
  );
  return isElsewhere ? otherWorkspace(workspace) : null;
}

function forbidden(message: string): Failure {
  return new Failure("forbidden", message);
}

function readsCaptures({ guardrails = [], workspaces = [] }: RehearsedChange): boolean {
  return guardrails.length > 0 || workspaces.some(({ guardrails: own = [] }) => own.length > 0);
}

function otherWorkspace({ slug }: Workspace): Failure {
  return forbidden(`The change may only name groups, keys and people of the workspace ${slug}.`);
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
