import type { BodyOf, ConsoleKey, KeyWithUsage } from "@sluice/contract";
import { isKeyOf, meets } from "@sluice/contract/words";
import { type ConfigSnapshot, Failure, orNotFound, Secret, type Workspace, withoutUndefined } from "#core/index.ts";
import {
  type BoundedKey,
  bindsKey,
  type KeyBound,
  keyBounds,
  keySecretBytes,
  makeKeySecret,
  widenedBounds,
} from "#identity/index.ts";
import type { KeyFilter } from "#ports/index.ts";
import { personScopeOf, personScopes, withBudgetUse } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { visiblePerson } from "./callers.ts";
import { applier, type ConsoleCall, type Handlers, oneWorkspace, pageSize } from "./calls.ts";

/** Calls for keys. Members manage the keys they created or own, admins all keys of the workspace. */
export function keyHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const applied = applier(dependencies);
  return {
    "keys.list": async (call) => {
      const { cursor = null, limit = pageSize } = call.query;
      const { data, next } = await dependencies.reports.keys(keyFilter(call, dependencies), cursor, limit);
      return { data: visibleKeys(call, await withUsage(data, dependencies)), next };
    },
    "keys.create": async (call) => {
      const { id } = oneWorkspace(call);
      const secret = newSecret(dependencies);
      checkOwner(call, null);
      // A service token has no creator, so that it outlives them. The audit log has the name.
      const createdBy = call.body.service === true ? null : call.actor.userId;
      const setByAdmins = adminBounds(call, null);
      const wanted = { ...call.body, secret, createdBy, setByAdmins };
      const key = await applied(controlStore.addKey(id, wanted, call.auditSource));
      return { key, secret: secret.reveal() };
    },
    "keys.show": async (call) => {
      const [key] = visibleKeys(call, await withUsage([await requireKey(call, dependencies)], dependencies));
      if (key === undefined) throw new RangeError("A key has its usage.");
      return key;
    },
    "keys.update": async (call) => {
      const { id, workspace } = await requireOwnKey(call, dependencies);
      const change = (before: ConsoleKey) => {
        checkWidening(call, before);
        checkOwner(call, before);
        return { ...call.body, setByAdmins: adminBounds(call, before) };
      };
      return await applied(controlStore.updateKey(workspace.id, id, change, call.auditSource));
    },
    "keys.rotate": async (call) => {
      const { workspace, id } = await requireOwnKey(call, dependencies);
      const secret = newSecret(dependencies);
      const { grace_seconds: graceSeconds = 0, expires_at: expiresAt } = call.body;
      const rotation = { secret, graceMs: graceSeconds * 1_000, expiresAt };
      const key = await applied(controlStore.rotateKey(workspace.id, id, rotation, call.auditSource));
      return { key, secret: secret.reveal() };
    },
    "keys.revoke": async (call) => {
      const { workspace, id } = await requireOwnKey(call, dependencies);
      return await applied(controlStore.revokeKey(workspace.id, id, call.auditSource));
    },
  } satisfies Partial<Handlers>;
}

type OneKeyRoute = "keys.show" | "keys.update" | "keys.rotate" | "keys.revoke";

/** Adds the state of the budgets that apply: of the key, its owner, its group and its workspace. */
async function withUsage(
  keys: readonly ConsoleKey[],
  { admission, configSnapshot, people }: ConsoleDependencies,
): Promise<KeyWithUsage[]> {
  const { groups, workspaces } = configSnapshot();
  const persons = await personScopes(people, keys);
  const around = keys.flatMap((key) => [
    workspaces.get(key.workspace.id)?.scope ?? [],
    groups.get(key.group.id)?.scope ?? [],
  ]);
  const idsOf = (key: ConsoleKey) => ({
    key: key.id,
    person: personScopeOf(key) ?? "",
    group: key.group.id,
    workspace: key.workspace.id,
  });
  return await withBudgetUse(admission, "key", keys, idsOf, [...around.flat(), ...persons.values()]);
}

/** Budget use reveals what the owner spends. */
function visibleKeys(call: ConsoleCall<"keys.list" | "keys.show">, keys: readonly KeyWithUsage[]): KeyWithUsage[] {
  const own = visiblePerson(call);
  return keys.map((key) => {
    const personId = (key.person ?? key.owner)?.id ?? null;
    return own === null || personId === null || personId === own
      ? key
      : { ...key, budget_used: null, exhausted_by: null };
  });
}

function newSecret({ randomBytes }: ConsoleDependencies): Secret {
  return new Secret(makeKeySecret(randomBytes(keySecretBytes)));
}

/** A key of the workspace in the path. Keys of other workspaces are not found. */
async function requireKey(call: ConsoleCall<OneKeyRoute>, { controlStore }: ConsoleDependencies): Promise<ConsoleKey> {
  const key = await controlStore.key(call.workspace?.id ?? null, call.params.key);
  return orNotFound(key, "key in this workspace", "key");
}

async function requireOwnKey(call: ConsoleCall<OneKeyRoute>, dependencies: ConsoleDependencies): Promise<ConsoleKey> {
  const key = await requireKey(call, dependencies);
  if (meets(call.held, "admin") || isKeyOf(key, call.actor.userId)) return key;
  throw new Failure("forbidden", "Another user created and owns this key. Ask a workspace admin to change it.");
}

/** Members can name only themselves as owner, and cannot remove themselves. */
function checkOwner(
  { actor, body, held }: ConsoleCall<"keys.create"> | ConsoleCall<"keys.update">,
  before: ConsoleKey | null,
): void {
  const { owner } = body;
  if (owner === undefined || meets(held, "admin") || owner === (before?.owner?.id ?? null)) return;
  if (before === null && owner === actor.userId) return;
  throw new Failure("forbidden", "Members can only create keys for themselves. Ask an admin to change the owner.", {
    param: "owner",
  });
}

function keyFilter(
  { actor, held, query, workspace }: ConsoleCall<"keys.list">,
  { configSnapshot, clock }: ConsoleDependencies,
): KeyFilter {
  const { search, group, state, mine, callable, user, owner, service } = query;
  return {
    workspaceId: workspace?.id ?? null,
    now: clock.now(),
    ...withoutUndefined({
      search: search === "" ? undefined : search,
      groupId: group === undefined ? undefined : groupIdOf(group, workspace, configSnapshot()),
      state,
      service: service === undefined ? undefined : service === "true",
      ownerId: owner,
      userId: mine === "true" ? actor.userId : user,
      callableBy: callable === "true" ? { userId: actor.userId, isAdmin: meets(held, "admin") } : undefined,
    }),
  };
}

/** A group name is only unique in one workspace. */
function groupIdOf(idOrName: string, workspace: Workspace | null, configSnapshot: ConfigSnapshot): string {
  if (workspace === null || configSnapshot.groups.has(idOrName)) return idOrName;
  const named = [...configSnapshot.groups.values()].find(
    (group) => group.workspaceId === workspace.id && group.name === idOrName,
  );
  return named?.id ?? idOrName;
}

type KeyCall = Pick<ConsoleCall<"keys.update">, "body" | "held"> | Pick<ConsoleCall<"keys.create">, "body" | "held">;

/**
 * Members may undo their own changes to their key, and narrow what an admin set, but never widen it. Throws `forbidden` for the first
 * field that would.
 */
function checkWidening({ body, held }: Pick<ConsoleCall<"keys.update">, "body" | "held">, before: ConsoleKey) {
  if (meets(held, "admin")) return;
  const after = { ...before, ...fieldsOf(body, before) };
  const wider = widenedBounds(before, after).find((name) => before.set_by_admins.includes(name));
  if (wider === undefined) return;
  const message =
    wider === "enabled"
      ? "A workspace admin disabled this key. Only admins can enable it."
      : `A workspace admin set \`${wider}\` of this key. You can narrow it; only admins can widen it.`;
  throw new Failure("forbidden", message, { param: wider });
}

/** The limits of a key that only admins may widen, after a change. `before` null: the key is new. */
function adminBounds({ body, held }: KeyCall, before: ConsoleKey | null): readonly KeyBound[] {
  const sent = keyBounds.filter((name) => body[name as keyof typeof body] !== undefined);
  const setBefore = keyBounds.filter((name) => before?.set_by_admins.includes(name));
  if (!meets(held, "admin")) {
    // A limit that the member adds is their own to change.
    return setBefore.filter((name) => !sent.includes(name) || before === null || bindsKey(name, before));
  }
  const was = before ?? unboundKey;
  const after = { ...was, ...fieldsOf(body, was) };
  const changed = sent.filter((name) => JSON.stringify(after[name]) !== JSON.stringify(was[name]));
  return keyBounds.filter((name) => (changed.includes(name) ? bindsKey(name, after) : setBefore.includes(name)));
}

/** `group` is an id or a name. */
function fieldsOf({ group, ...body }: BodyOf<"keys.update">, before: Pick<ConsoleKey, "group">): Partial<ConsoleKey> {
  const fields = withoutUndefined(body) as Partial<ConsoleKey>;
  const same = group === undefined || group === before.group.id || group === before.group.name;
  return same ? fields : { ...fields, group: { id: group, name: group } };
}

const unboundKey: BoundedKey = Object.freeze({
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
