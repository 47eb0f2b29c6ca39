import {
  type ApiKey,
  type BudgetPolicy,
  type Group,
  type Principal,
  personOf,
  personScopeId,
  policiesOf,
  policyCaller,
  scopesOf,
  type Workspace,
} from "#core/index.ts";
import { deniedBy } from "#identity/in-thread.ts";
import { type Connection, callerKeyReader, type PastEntry } from "#storage/in-thread.ts";
import type { RehearsedChanges } from "../change/rehearsed-changes.ts";
import { changedKey, changedLimits, changedOwner } from "../change/scope-change.ts";
import type { CallerLimits } from "./bound-permit.ts";
import type { Figures } from "./figures.ts";
import { Refusal, ruleName } from "./refusal.ts";

/** The caller of past calls, under the changed configuration. */
export interface Caller {
  readonly principal: Principal;
  /** The key was deleted since; only its workspace and group count. */
  readonly isDeleted: boolean;
  /** The grant that denies a model and did not deny it before the change; null: none. */
  readonly deniedBy: (model: string) => Refusal | null;
  /** null: not found yet. */
  limits: CallerLimits | null;
  /** null: none of its calls was counted yet. */
  sums: Figures | null;
}

type Grants = Pick<Principal, "workspace" | "group" | "key">;

interface CallersOptions {
  readonly workspaces: ReadonlyMap<string, Workspace>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly changes: RehearsedChanges;
  readonly policies: readonly BudgetPolicy[];
}

/** Callers by their keys, which are read from the database when they are first met. */
export class Callers {
  readonly #options: CallersOptions;
  readonly #byKey = new Map<string, Caller>();
  #readKeys: ReturnType<typeof callerKeyReader> | null = null;
  readonly #denialsOfGroups = new Map<string, Caller["deniedBy"]>();
  readonly #workspaces = new Map<string, Workspace>();
  readonly #groups = new Map<string, Group>();
  /** Names (`ruleName`) of the limits that the change sets. */
  readonly changedRules = new Set<string>();

  constructor(options: CallersOptions) {
    this.#options = options;
    for (const [id, workspace] of options.workspaces) {
      const after = changedOwner(workspace, options.changes.workspaces.get(id));
      this.#noteChanges(workspace, after);
      this.#workspaces.set(id, after);
    }
    for (const [id, group] of options.groups) {
      const after = changedOwner(group, options.changes.groups.get(id));
      this.#noteChanges(group, after);
      this.#groups.set(id, after);
    }
  }

  of({ keyId }: PastEntry): Caller {
    const caller = this.#byKey.get(keyId);
    if (caller === undefined) throw new Error("The key of an entry was not read.");
    return caller;
  }

  /** Reads new keys of these entries. */
  async read(connection: Connection, entries: readonly PastEntry[]): Promise<void> {
    const missing = new Map<string, PastEntry>();
    for (const entry of entries) if (!this.#byKey.has(entry.keyId)) missing.set(entry.keyId, entry);
    if (missing.size === 0) return;
    this.#readKeys ??= callerKeyReader(connection);
    for (const key of await this.#readKeys([...missing.keys()])) this.#add(key);
    for (const [id, entry] of missing) if (!this.#byKey.has(id)) this.#byKey.set(id, this.#deleted(entry));
  }

  #add(key: ApiKey): void {
    const { changes, workspaces, groups } = this.#options;
    const workspace = this.#workspaces.get(key.workspaceId);
    const group = this.#groups.get(key.groupId);
    const before = { workspace: workspaces.get(key.workspaceId), group: groups.get(key.groupId) };
    if (
      workspace === undefined ||
      group === undefined ||
      before.workspace === undefined ||
      before.group === undefined
    ) {
      return;
    }
    const person = personOf(key);
    const personId = person === null ? null : personScopeId(key.workspaceId, person);
    const personChange = personId === null ? undefined : changes.people.get(personId);
    const label = personChange?.label ?? "";
    const none = { kind: "person" as const, id: personId ?? "", label, limits: {}, budget: null };
    const limited = key.personScope === undefined && personChange !== undefined ? { ...key, personScope: none } : key;
    const after = changedKey(limited, changes.keys.get(key.id), personChange);
    this.#noteChanges(key, after);
    const scopes = scopesOf(workspace, group, after);
    const caller = { key: after, group, workspace, person };
    const policies = policiesOf(this.#options.policies, policyCaller(caller));
    const principal: Principal = Object.freeze({ ...caller, scopes, ...(policies === undefined ? {} : { policies }) });
    const grants = { workspace, group, key: after };
    const grantsBefore = { workspace: before.workspace, group: before.group, key };
    const denials = this.#denials(grants, grantsBefore);
    this.#byKey.set(key.id, { principal, isDeleted: false, deniedBy: denials, limits: null, sums: null });
  }

  /** Keys without separate grants share the grants of their group, and the models found with them. */
  #denials(after: Grants, before: Grants): Caller["deniedBy"] {
    const isSame = (["workspace", "group", "key"] as const).every(
      (owner) => after[owner].models === before[owner].models,
    );
    if (isSame) return deniesNothing;
    const isShared = after.key.models === null && before.key.models === null;
    const found = isShared ? this.#denialsOfGroups.get(after.group.id) : undefined;
    if (found !== undefined) return found;
    const granted = new Map<string, Refusal | null>();
    const denials = (model: string): Refusal | null => {
      let refusal = granted.get(model);
      if (refusal !== undefined) return refusal;
      const by = deniedBy(after, model);
      const isNew = by !== null && deniedBy(before, model) === null;
      const owner = isNew ? after[by].scope : null;
      refusal =
        owner === null ? null : new Refusal({ scope: owner.kind, scopeId: owner.id, limit: "models" }, owner.label);
      if (refusal !== null) this.changedRules.add(refusal.name);
      granted.set(model, refusal);
      return refusal;
    };
    if (isShared) this.#denialsOfGroups.set(after.group.id, denials);
    return denials;
  }

  /** For a key that was deleted, or its group or workspace. The remaining ones count. */
  #deleted({ keyId, groupId, workspaceId, personId }: PastEntry): Caller {
    const { workspaces, groups } = this;
    const workspace = workspaces(workspaceId);
    const group = groups(groupId, workspaceId);
    const scope = { kind: "key" as const, id: keyId, label: `key ${keyId}`, limits: {}, budget: null };
    const key: ApiKey = {
      ...{ id: keyId, name: keyId, workspaceId, groupId, prefix: "", lastFour: "", models: null, passThrough: [] },
      ...{ scope, allowedIps: null, enabled: true, expiresAt: null, createdAt: 0, tags: {}, capture: "none" as const },
    };
    const caller = { key, group, workspace, person: personId };
    const policies = policiesOf(this.#options.policies, policyCaller(caller));
    const scopes = scopesOf(workspace, group, key);
    const principal = { ...caller, scopes, ...(policies === undefined ? {} : { policies }) };
    return { principal, isDeleted: true, deniedBy: deniesNothing, limits: null, sums: null };
  }

  readonly workspaces = (id: string): Workspace => {
    const none = { kind: "workspace" as const, id, label: `workspace ${id}`, limits: {}, budget: null };
    const deleted = { id, slug: id, name: id, models: ["*"], passThrough: [], scope: none, enabled: true };
    return this.#workspaces.get(id) ?? this.#kept(this.#workspaces, id, deleted);
  };

  readonly groups = (id: string, workspaceId: string): Group => {
    const none = { kind: "group" as const, id, label: `group ${id}`, limits: {}, budget: null };
    const deleted = { id, workspaceId, name: id, models: ["*"], passThrough: [], scope: none };
    return this.#groups.get(id) ?? this.#kept(this.#groups, id, deleted);
  };

  #kept<Owner>(owners: Map<string, Owner>, id: string, owner: Owner): Owner {
    owners.set(id, owner);
    return owner;
  }

  #noteChanges(before: Workspace | Group | ApiKey, after: Workspace | Group | ApiKey): void {
    const scopes = [[before.scope, after.scope]] as [typeof before.scope, typeof after.scope][];
    if ("personScope" in after && after.personScope !== undefined) {
      const { personScope } = after;
      const own = "personScope" in before ? before.personScope : undefined;
      scopes.push([own ?? { ...personScope, limits: {}, budget: null }, personScope]);
    }
    for (const [one, other] of scopes) {
      if (one === other) continue;
      for (const limit of changedLimits(one, other)) {
        this.changedRules.add(ruleName({ scope: other.kind, scopeId: other.id, limit }));
      }
    }
  }
}

const deniesNothing: Caller["deniedBy"] = () => null;
