import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { BodyOf, ConsoleGroup, ConsoleKey, ConsoleWorkspace } from "@sluice/contract/console";
import type { Secret } from "#core/index.ts";
import type { AuditSource, Paged } from "./people-store.ts";

/** A workspace as it is stored, without the role of the user who asks. */
export type StoredWorkspace = Omit<ConsoleWorkspace, "role">;

/** A field that is left out does not change. In a new object: all models, no pass-through, no limits. */
interface ScopeFields {
  readonly models?: readonly string[] | undefined;
  readonly pass_through?: readonly string[] | undefined;
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
}

export interface WorkspaceChange extends ScopeFields {
  readonly name?: string | undefined;
  readonly enabled?: boolean | undefined;
}

export interface NewWorkspace extends ScopeFields {
  readonly slug: string;
  readonly name?: string | undefined;
}

export interface GroupChange extends ScopeFields {
  readonly name?: string | undefined;
}

/** The fields of a key that the admin API sets, but for its name and its group. `service` is said once, when the key is made. */
type ChangedFields = Omit<BodyOf<"keys.update">, "name" | "group" | "owner"> & Pick<BodyOf<"keys.create">, "service">;

/** What people set of a key, by the names of the admin API. Times are Unix milliseconds. */
export type KeyFields = { readonly [Name in keyof ChangedFields]-?: Exclude<ChangedFields[Name], undefined> };

/** A field that is left out does not change. */
export type KeyChange = { readonly [Name in keyof KeyFields]?: KeyFields[Name] | undefined } & {
  readonly name?: string | undefined;
  /** Id or name of a group of the key's own workspace. */
  readonly group?: string | undefined;
  /** Id of the user whose calls the key makes; they must be able to make keys there. null: no one person's. */
  readonly owner?: string | null | undefined;
  /** The fields that only admins may widen. */
  readonly setByAdmins?: readonly string[] | undefined;
};

export type NewKey = KeyChange & {
  readonly name: string;
  readonly secret: Secret;
  /** User id. null: not made by a user, but by the command line or the first start. Only admins may widen such a key. */
  readonly createdBy: string | null;
  /** If the config file declares a key of this name without a secret, that key gets this secret and does not change otherwise. */
  readonly fillsDeclared?: boolean;
};

/** The new secret, and how long the old one stays valid: never longer than it would have. */
export interface Rotation {
  readonly secret: Secret;
  readonly graceMs: number;
  /** Left out: as before. */
  readonly expiresAt?: number | undefined;
}

export interface WorkspaceFilter {
  /** Only these ids. null: all workspaces. */
  readonly ids: readonly string[] | null;
  /** Part of the slug or the name. */
  readonly search?: string | undefined;
}

/**
 * Workspaces, groups and keys. The admin API and the command line write through this store; the config file is applied
 * by the same rules. Each write is one transaction with its audit row and the change notice that tells every process. A
 * write that changes nothing leaves neither.
 *
 * Refusals: `not_found` for an id of another workspace than the one named; `managed_by_file` for what the config file
 * owns; `conflict` for a name that is taken or a list that is full; `invalid_request` with `param` for a wrong field.
 */
export interface TenantStore {
  /** Ordered by slug. */
  workspaces(filter: WorkspaceFilter, cursor: string | null, limit: number): Promise<Paged<StoredWorkspace>>;
  workspace(id: string): Promise<StoredWorkspace | null>;
  workspaceNamed(slug: string): Promise<StoredWorkspace | null>;
  /** Makes a workspace with its first group, `default`. */
  addWorkspace(workspace: NewWorkspace, auditSource: AuditSource): Promise<StoredWorkspace>;
  updateWorkspace(id: string, change: WorkspaceChange, auditSource: AuditSource): Promise<StoredWorkspace>;
  /**
   * Removes a workspace with its groups, revoked keys, members and notices. Throws `conflict` while it has a key that is not
   * revoked, an open task or an asset group. Ledger entries and ended tasks stay.
   */
  removeWorkspace(id: string, auditSource: AuditSource): Promise<void>;

  /** Ordered by name. */
  groups(workspaceId: string): Promise<readonly ConsoleGroup[]>;
  addGroup(
    workspaceId: string,
    group: GroupChange & { readonly name: string },
    auditSource: AuditSource,
  ): Promise<ConsoleGroup>;
  updateGroup(
    workspaceId: string,
    idOrName: string,
    change: GroupChange,
    auditSource: AuditSource,
  ): Promise<ConsoleGroup>;
  /**
   * Its revoked keys move to the group `default`, or else to the first by name. Throws `conflict` while it has other keys,
   * or is the last group.
   */
  removeGroup(workspaceId: string, idOrName: string, auditSource: AuditSource): Promise<void>;

  /** `workspaceId` null: in any workspace. */
  key(workspaceId: string | null, id: string): Promise<ConsoleKey | null>;
  /** By id, or by the beginning of its secret when only one key has it. Throws `invalid_request` when several have it. */
  keyNamed(idOrPrefix: string): Promise<ConsoleKey | null>;
  /** Ordered by workspace and name. `workspaceId` null: of every workspace. */
  listKeys(workspaceId: string | null): Promise<readonly ConsoleKey[]>;
  /** Whether there is any key, revoked ones included. */
  hasKeys(): Promise<boolean>;
  /** If a revoked key has the name, that key is renamed. */
  addKey(workspaceId: string, key: NewKey, auditSource: AuditSource): Promise<ConsoleKey>;
  /** `change` gets the key as it is within the transaction. If it throws, nothing changes. */
  updateKey(
    workspaceId: string,
    id: string,
    change: (before: ConsoleKey) => KeyChange,
    auditSource: AuditSource,
  ): Promise<ConsoleKey>;
  /**
   * An older secret that was still valid from an earlier rotation ends now. A key that the config file declares without a
   * secret gets its first one.
   */
  rotateKey(workspaceId: string, id: string, rotation: Rotation, auditSource: AuditSource): Promise<ConsoleKey>;
  /** Revokes the key for good, with both of its secrets. A second call changes nothing. */
  endKey(workspaceId: string, id: string, auditSource: AuditSource): Promise<ConsoleKey>;
}
