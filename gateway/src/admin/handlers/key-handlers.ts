import type { BodyOf, ConsoleKey, KeyWithUsage, LimitsConfig } from "@sluice/contract";
import { isKeyOf, meets } from "@sluice/contract/words";
import {
  type ConfigSnapshot,
  Failure,
  invalidRequest,
  orNotFound,
  Secret,
  type Workspace,
  withoutUndefined,
} from "#core/index.ts";
import {
  type BoundedKey,
  bindsKey,
  enforcedBy,
  type KeyBound,
  keyBounds,
  keySecretBytes,
  makeKeySecret,
  matches,
  widenedBounds,
} from "#identity/index.ts";
import type { KeyFilter, KeyOrder } from "#ports/index.ts";
import { personScopeOf, personScopes, withBudgetUse } from "../budgets/limit-scopes.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { visiblePerson } from "./callers.ts";
import { applier, type ConsoleCall, type Handlers, oneWorkspace, pageSize } from "./calls.ts";

/** Calls for keys. Members manage the keys they created or own, admins all keys of the workspace. */
export function keyHandlers(dependencies: ConsoleDependencies) {
  const { controlStore } = dependencies;
  const applied = applier(dependencies);
  const updateOne = async (
    { actor, held, auditSource }: Pick<ConsoleCall<"keys.update">, "actor" | "held" | "auditSource">,
    { id, workspace }: ConsoleKey,
    bodyOf: (before: ConsoleKey) => BodyOf<"keys.update">,
  ) => {
    const change = (before: ConsoleKey) => {
      const call = { actor, held, body: bodyOf(before) };
      checkWidening(call, before);
      checkOwner(call, before);
      return { ...call.body, setByAdmins: adminBounds(call, before) };
    };
    return await controlStore.updateKey(workspace.id, id, change, auditSource);
  };
  const revokeOne = async (call: KeyOfPath & Pick<ConsoleCall<"keys.revoke">, "auditSource">) => {
    const { id, workspace } = await requireOwnKey(call, dependencies);
    return await controlStore.revokeKey(workspace.id, id, call.auditSource);
  };
  return {
    "keys.list": async (call) => {
      const { cursor = null, limit = pageSize } = call.query;
      const order = keyOrder(call);
      const { data, ...rest } = await dependencies.reports.keyList(keyFilter(call, dependencies), order, cursor, limit);
      return { data: visibleKeys(call, await withUsage(data, dependencies)), ...rest };
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
      const key = await requireOwnKey(call, dependencies);
      return await applied(updateOne(call, key, () => call.body));
    },
    "keys.changeMany": async (call) => {
      const { keys, revoke, changes } = call.body;
      if ((revoke === undefined) === (changes === undefined)) {
        throw invalidRequest("changes", "Send either `changes` or `revoke`.");
      }
      const changed: string[] = [];
      const failed: { key: string; code: string; message: string }[] = [];
      for (const id of new Set(keys)) {
        try {
          const one = { ...call, params: { ...call.params, key: id } };
          if (changes === undefined) await revokeOne(one);
          else await updateOne(call, await requireOwnKey(one, dependencies), (before) => changeOf(changes, before));
          changed.push(id);
        } catch (thrown) {
          if (!(thrown instanceof Failure)) throw thrown;
          failed.push({ key: id, code: thrown.code, message: thrown.message });
        }
      }
      if (changed.length > 0) await dependencies.changesSeen();
      return { changed, failed };
    },
    "keys.rotate": async (call) => {
      const { workspace, id } = await requireOwnKey(call, dependencies);
      const secret = newSecret(dependencies);
      const { grace_seconds: graceSeconds = 0, expires_at: expiresAt } = call.body;
      const rotation = { secret, graceMs: graceSeconds * 1_000, expiresAt };
      const key = await applied(controlStore.rotateKey(workspace.id, id, rotation, call.auditSource));
      return { key, secret: secret.reveal() };
    },
    "keys.revoke": (call) => applied(revokeOne(call)),
  } satisfies Partial<Handlers>;
}

/** A call for one key, and its caller. */
type KeyOfPath = Pick<ConsoleCall<"keys.update">, "workspace" | "params" | "actor" | "held">;
type ManyChanges = NonNullable<BodyOf<"keys.changeMany">["changes"]>;

function changeOf(
  { add_tags: added, remove_tags: removed = [], limits, budget, ...changes }: ManyChanges,
  before: ConsoleKey,
): BodyOf<"keys.update"> {
  const tags = Object.entries(before.tags).filter(([name]) => !removed.includes(name));
  return {
    ...changes,
    ...(added === undefined && removed.length === 0 ? {} : { tags: { ...Object.fromEntries(tags), ...added } }),
    ...(limits === undefined ? {} : { limits: withModes(before.limits, limits) }),
    ...(budget === undefined ? {} : { budget: budget === null ? null : withModes(before.budget ?? {}, budget) }),
  };
}

type Modes = Pick<LimitsConfig, "fail" | "enforce">;

/** `fail` and `enforce` stay if they are left out: the keys may differ in them. */
function withModes<Config extends Modes>(before: Modes, { enforce = before.enforce, ...config }: Config): Config {
  const { fail = before.fail } = config;
  return {
    ...config,
    ...(fail === undefined ? {} : { fail }),
    ...(enforce === false ? { enforce } : {}),
  } as Config;
}

/** Adds the state of the budgets that apply: of the key, its owner, its group and its workspace. */
async function withUsage<Key extends ConsoleKey>(
  keys: readonly Key[],
  { admission, configSnapshot, people }: ConsoleDependencies,
): Promise<(Key & KeyWithUsage)[]> {
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
function visibleKeys<Key extends KeyWithUsage>(
  call: ConsoleCall<"keys.list" | "keys.show">,
  keys: readonly Key[],
): Key[] {
  const own = visiblePerson(call);
  return keys.map((key) => {
    const personId = (key.person ?? key.owner)?.id ?? null;
    return own === null || personId === null || personId === own
      ? key
      : { ...key, budget_used: null, exhausted_by: null };
  });
}

export function newSecret({ randomBytes }: ConsoleDependencies): Secret {
  return new Secret(makeKeySecret(randomBytes(keySecretBytes)));
}

/** A key of the workspace in the path. Keys of other workspaces are not found. */
async function requireKey(
  call: Pick<KeyOfPath, "workspace" | "params">,
  { controlStore }: ConsoleDependencies,
): Promise<ConsoleKey> {
  const key = await controlStore.key(call.workspace?.id ?? null, call.params.key);
  return orNotFound(key, "key in this workspace", "key");
}

async function requireOwnKey(call: KeyOfPath, dependencies: ConsoleDependencies): Promise<ConsoleKey> {
  const key = await requireKey(call, dependencies);
  if (meets(call.held, "admin") || isKeyOf(key, call.actor.userId)) return key;
  throw new Failure("forbidden", "Another user created and owns this key. Ask a workspace admin to change it.");
}

/** Members can name only themselves as owner, and cannot remove themselves. */
function checkOwner(
  { actor, body, held }: KeyCall & Pick<ConsoleCall<"keys.update">, "actor">,
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
  const { search, group, state, mine, callable, user, owner, leaver, service } = query;
  const { model, tag, expires_before: expiresBefore, unused_since: unusedSince } = query;
  return {
    workspaceId: workspace?.id ?? null,
    now: clock.now(),
    ...withoutUndefined({
      search: search === "" ? undefined : search,
      groupId: group === undefined ? undefined : groupIdOf(group, workspace, configSnapshot()),
      state,
      service: service === undefined ? undefined : service === "true",
      ownerId: owner,
      leaverId: leaver,
      userId: mine === "true" ? actor.userId : user,
      callableBy: callable === "true" ? { userId: actor.userId, isAdmin: meets(held, "admin") } : undefined,
      model: model === undefined ? undefined : { name: model, groupIds: groupsAllowing(model, configSnapshot()) },
      tag: tag === undefined ? undefined : tagOf(tag),
      expiresBefore,
      unusedSince,
    }),
  };
}

function keyOrder(call: ConsoleCall<"keys.list">): KeyOrder {
  return { sort: call.query.sort ?? "name", visiblePerson: visiblePerson(call) };
}

/** Groups that may call a model, with their workspace's permission. */
function groupsAllowing(model: string, { groups, workspaces }: ConfigSnapshot): readonly string[] {
  return [...groups.values()]
    .filter((group) => {
      const workspace = workspaces.get(group.workspaceId);
      return workspace !== undefined && matches(workspace.models, model) && matches(group.models, model);
    })
    .map(({ id }) => id);
}

/** `name` or `name:value`. */
function tagOf(text: string): NonNullable<KeyFilter["tag"]> {
  const colon = text.indexOf(":");
  return colon < 0 ? { name: text } : { name: text.slice(0, colon), value: text.slice(colon + 1) };
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
  const sent = keyBounds.filter((name) => partsOf(name).some((part) => body[part as keyof typeof body] !== undefined));
  const setBefore = keyBounds.filter((name) => before?.set_by_admins.includes(name));
  if (!meets(held, "admin")) {
    // A limit that the member adds is their own to change.
    return setBefore.filter((name) => !sent.includes(name) || before === null || bindsKey(name, before));
  }
  const was = before ?? unboundKey;
  const after = { ...was, ...fieldsOf(body, was) };
  const changed = sent.filter((name) =>
    partsOf(name).some((part) => JSON.stringify(after[part]) !== JSON.stringify(was[part])),
  );
  return keyBounds.filter((name) => (changed.includes(name) ? bindsKey(name, after) : setBefore.includes(name)));
}

/** A bound with the field that turns it to shadow mode. */
function partsOf(name: KeyBound): readonly (keyof BoundedKey)[] {
  const enforce = enforcedBy[name];
  return enforce === undefined ? [name] : [name, enforce];
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
  enforce_models: true,
  allowed_ips: null,
  enforce_allowed_ips: true,
  expires_at: null,
  limits: {},
  budget: null,
  tags: {},
  capture: "none",
});
