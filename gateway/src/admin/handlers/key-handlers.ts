import type { BodyOf, ConsoleKey, KeyWithUsage } from "@sluice/contract";
import { meets } from "@sluice/contract/words";
import { type ConfigSnapshot, Failure, Secret, type Workspace } from "#core/index.ts";
import type { ControlStore, PeopleStore } from "#directory/index.ts";
import {
  type BoundedKey,
  bindsKey,
  type KeyBound,
  keyBounds,
  keySecretBytes,
  makeKeySecret,
  widenedBounds,
} from "#identity/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Clock, KeyFilter, ReportStore } from "#ports/index.ts";
import { budgetScope, budgetStates } from "../budgets/exhausted.ts";
import { type ConsoleCall, type Handlers, oneWorkspace, requireActor } from "./handler.ts";
import { personScopeOf, personScopes } from "./person-scopes.ts";
import { seenPerson } from "./seen-people.ts";

export interface KeyHandlerDependencies {
  readonly controlStore: ControlStore;
  readonly people: Pick<PeopleStore, "limitedPeople">;
  readonly reports: ReportStore;
  readonly admission: Pick<Admission, "limitUsages">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

type KeyRoutes = "keys.list" | "keys.create" | "keys.show" | "keys.update" | "keys.rotate" | "keys.revoke";
type OneKeyRoute = "keys.show" | "keys.update" | "keys.rotate" | "keys.revoke";

/** The calls about keys. A member manages the keys they made, an admin of the workspace all of them. */
export function keyHandlers(dependencies: KeyHandlerDependencies): Handlers<KeyRoutes> {
  const { controlStore } = dependencies;
  return {
    "keys.list": async (call) => {
      const { cursor = null, limit = 50 } = call.query;
      const { data, next } = await dependencies.reports.keys(filterOf(call, dependencies), cursor, limit);
      return { data: seenKeys(call, await withUsage(data, dependencies)), next };
    },
    "keys.create": async (call) => {
      const { id } = oneWorkspace(call);
      const secret = newSecret(dependencies);
      checkOwner(call, null);
      // A service token outlives whoever made it; the audit log says who did.
      const createdBy = call.body.service === true ? null : requireActor(call.actor).userId;
      const setByAdmins = boundsSetBy(call, null);
      const wanted = { ...call.body, secret, createdBy, setByAdmins };
      const key = await controlStore.addKey(id, wanted, call.auditSource);
      await dependencies.changesSeen();
      return { key, secret: secret.reveal() };
    },
    "keys.show": async (call) => {
      const [key] = seenKeys(call, await withUsage([await theKey(call, dependencies)], dependencies));
      if (key === undefined) throw new RangeError("A key has its usage.");
      return key;
    },
    "keys.update": async (call) => {
      const { id, workspace } = await ownKey(call, dependencies);
      const change = (before: ConsoleKey) => {
        checkWidening(call, before);
        checkOwner(call, before);
        return { ...call.body, setByAdmins: boundsSetBy(call, before) };
      };
      const key = await controlStore.updateKey(workspace.id, id, change, call.auditSource);
      await dependencies.changesSeen();
      return key;
    },
    "keys.rotate": async (call) => {
      const before = await ownKey(call, dependencies);
      const secret = newSecret(dependencies);
      const { grace_seconds: graceSeconds = 0, expires_at: expiresAt } = call.body;
      const rotation = { secret, graceMs: graceSeconds * 1_000, expiresAt };
      const key = await controlStore.rotateKey(before.workspace.id, before.id, rotation, call.auditSource);
      await dependencies.changesSeen();
      return { key, secret: secret.reveal() };
    },
    "keys.revoke": async (call) => {
      const before = await theKey(call, dependencies);
      // Whose calls it makes stops them, whoever made it.
      if (before.owner?.id !== requireActor(call.actor).userId) checkMaker(call, before);
      const key = await controlStore.endKey(before.workspace.id, before.id, call.auditSource);
      await dependencies.changesSeen();
      return key;
    },
  };
}

/** Where the budgets stand that a key's calls must fit into: its own, and those of its person, group and workspace. */
async function withUsage(
  keys: readonly ConsoleKey[],
  { admission, configSnapshot, people }: KeyHandlerDependencies,
): Promise<KeyWithUsage[]> {
  const { groups, workspaces } = configSnapshot();
  const persons = await personScopes(people, keys);
  const scopes = keys.flatMap((key) => [
    budgetScope("key", key.id, key.name, key.budget),
    ...[workspaces.get(key.workspace.id)?.scope ?? [], groups.get(key.group.id)?.scope ?? []].flat(),
  ]);
  const states = await budgetStates(admission, [...scopes, ...persons.values()]);
  return keys.map((key) => ({
    ...key,
    budget_used: states.used(key.id),
    exhausted_by: states.exhausted({
      key: key.id,
      person: personScopeOf(key) ?? "",
      group: key.group.id,
      workspace: key.workspace.id,
    }),
  }));
}

/** How far the budget of somebody else's key is used tells what they spend. */
function seenKeys(call: ConsoleCall<"keys.list" | "keys.show">, keys: readonly KeyWithUsage[]): KeyWithUsage[] {
  const own = seenPerson(call);
  return keys.map((key) => {
    const whose = (key.person ?? key.owner)?.id ?? null;
    return own === null || whose === null || whose === own ? key : { ...key, budget_used: null, exhausted_by: null };
  });
}

function newSecret({ randomBytes }: KeyHandlerDependencies): Secret {
  return new Secret(makeKeySecret(randomBytes(keySecretBytes)));
}

/** A key of the workspace that the path names; one of another looks missing. */
async function theKey(call: ConsoleCall<OneKeyRoute>, { controlStore }: KeyHandlerDependencies): Promise<ConsoleKey> {
  const key = await controlStore.key(call.workspace?.id ?? null, call.params.key);
  if (key !== null) return key;
  throw new Failure("not_found", "There is no such key in this workspace.", { param: "key" });
}

async function ownKey(call: ConsoleCall<OneKeyRoute>, dependencies: KeyHandlerDependencies): Promise<ConsoleKey> {
  const key = await theKey(call, dependencies);
  checkMaker(call, key);
  return key;
}

function checkMaker({ actor, held }: ConsoleCall<OneKeyRoute>, key: ConsoleKey): void {
  if (meets(held, "admin") || key.created_by?.id === requireActor(actor).userId) return;
  throw new Failure("forbidden", "Somebody else made this key. An admin of the workspace may change it.");
}

/** What somebody spends is theirs: a member puts it on nobody else, and takes nothing off themselves. */
function checkOwner(
  { actor, body, held }: ConsoleCall<"keys.create"> | ConsoleCall<"keys.update">,
  before: ConsoleKey | null,
): void {
  const { owner } = body;
  if (owner === undefined || meets(held, "admin") || owner === (before?.owner?.id ?? null)) return;
  if (before === null && owner === requireActor(actor).userId) return;
  throw new Failure("forbidden", "A member makes a key for themselves, and an admin says afterwards whose it is.", {
    param: "owner",
  });
}

function filterOf(
  { actor, query, workspace }: ConsoleCall<"keys.list">,
  { configSnapshot, clock }: KeyHandlerDependencies,
): KeyFilter {
  const { search, group, state, mine, made_by: madeBy, owner, service } = query;
  return {
    workspaceId: workspace?.id ?? null,
    now: clock.now(),
    ...(search === undefined || search === "" ? {} : { search }),
    ...(group === undefined ? {} : { groupId: groupIdOf(group, workspace, configSnapshot()) }),
    ...(state === undefined ? {} : { state }),
    ...(service === undefined ? {} : { service: service === "true" }),
    ...(owner === undefined ? {} : { ownerId: owner }),
    ...(mine === "true"
      ? { createdBy: requireActor(actor).userId }
      : madeBy === undefined
        ? {}
        : { createdBy: madeBy }),
  };
}

/** A group may be named in one workspace; among all of them only its id tells which. */
function groupIdOf(idOrName: string, workspace: Workspace | null, configSnapshot: ConfigSnapshot): string {
  if (workspace === null || configSnapshot.groups.has(idOrName)) return idOrName;
  const named = [...configSnapshot.groups.values()].find(
    (group) => group.workspaceId === workspace.id && group.name === idOrName,
  );
  return named?.id ?? idOrName;
}

type KeyCall = Pick<ConsoleCall<"keys.update">, "body" | "held"> | Pick<ConsoleCall<"keys.create">, "body" | "held">;

/**
 * A member takes back what they set of their key themselves, and narrows what an admin set; they never widen it. Throws
 * `forbidden` for the first field that would be.
 */
function checkWidening({ body, held }: Pick<ConsoleCall<"keys.update">, "body" | "held">, before: ConsoleKey) {
  if (meets(held, "admin")) return;
  const wider = widenedBounds(before, keyAfter(before, body)).find((name) => before.set_by_admins.includes(name));
  if (wider === undefined) return;
  const what =
    wider === "enabled"
      ? "An admin of the workspace switched this key off: only an admin switches it on."
      : `An admin of the workspace set \`${wider}\` of this key: it can be narrowed by its maker, and widened by an admin.`;
  throw new Failure("forbidden", what, { param: wider });
}

/** The bounds of a key that only admins widen, once a call has changed it. `before` null: the call makes it. */
function boundsSetBy({ body, held }: KeyCall, before: ConsoleKey | null): readonly KeyBound[] {
  const sent = keyBounds.filter((name) => body[name as keyof typeof body] !== undefined);
  const kept = keyBounds.filter((name) => before?.set_by_admins.includes(name));
  if (!meets(held, "admin")) {
    // What bound nothing until now is the member's own from here on.
    return kept.filter((name) => !sent.includes(name) || before === null || bindsKey(name, before));
  }
  const was = before ?? nothingBound;
  const after = { ...was, ...given(body, was) };
  const changed = sent.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(was[name]));
  return keyBounds.filter((name) => (changed.includes(name) ? bindsKey(name, after) : kept.includes(name)));
}

function keyAfter(before: ConsoleKey, body: BodyOf<"keys.update">): ConsoleKey {
  return { ...before, ...given(body, before) };
}

/** A group is named by its id or its name. */
function given({ group, ...body }: BodyOf<"keys.update">, before: Pick<ConsoleKey, "group">): Partial<ConsoleKey> {
  const said = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  const same = group === undefined || group === before.group.id || group === before.group.name;
  return same ? said : { ...said, group: { id: group, name: group } };
}

const nothingBound: BoundedKey = Object.freeze({
  enabled: true,
  group: { id: "", name: "" },
  models: null,
  allowed_ips: null,
  expires_at: null,
  limits: {},
  budget: null,
  tags: {},
  capture: "none",
});
