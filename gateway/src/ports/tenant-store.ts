import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { BodyOf, ConsoleGroup, ConsoleKey, ConsoleWorkspace } from "@sluice/contract/console";
import type { Secret } from "#core/index.ts";
import type { AuditSource, Paged } from "./people-store.ts";

/** A workspace as it is kept; whose role in it is asked for is not known here. */
export type StoredWorkspace = Omit<ConsoleWorkspace, "role">;

/** What is not said stays as it is; in a new object it is everything for models, no provider to pass through to, and no limit. */
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

/** The fields of a key that the admin API changes, but for its name and its group. */
type ChangedFields = Omit<BodyOf<"keys.update">, "name" | "group">;

/** What people set of a key, by the names of the admin API. Times are Unix milliseconds. */
export type KeyFields = { readonly [Name in keyof ChangedFields]-?: Exclude<ChangedFields[Name], undefined> };

/** What is not said stays as it is. */
export type KeyChange = { readonly [Name in keyof KeyFields]?: KeyFields[Name] | undefined } & {
  readonly name?: string | undefined;
  /** Id or name of a group of the key's own workspace. */
  readonly group?: string | undefined;
  /** The bounds that only admins widen. */
  readonly setByAdmins?: readonly string[] | undefined;
};

export type NewKey = KeyChange & {
  readonly name: string;
  readonly secret: Secret;
  /** User id; null: nobody of the console, as with the command line. Only admins widen such a key. */
  readonly createdBy: string | null;
  /** A key of this name that the file declares without a secret gets this one. It keeps what the file says of it. */
  readonly fillsDeclared?: boolean;
};

/** The new secret, and how long the one before still opens. */
export interface Rotation {
  readonly secret: Secret;
  readonly graceMs: number;
}

export interface WorkspaceFilter {
  /** Only these; null: all there are. */
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
  /** By slug. */
  workspaces(filter: WorkspaceFilter, cursor: string | null, limit: number): Promise<Paged<StoredWorkspace>>;
  workspace(id: string): Promise<StoredWorkspace | null>;
  workspaceNamed(slug: string): Promise<StoredWorkspace | null>;
  /** With its first group, `default`. */
  addWorkspace(workspace: NewWorkspace, auditSource: AuditSource): Promise<StoredWorkspace>;
  updateWorkspace(id: string, change: WorkspaceChange, auditSource: AuditSource): Promise<StoredWorkspace>;
  /**
   * With its groups, its revoked keys, and whoever belongs to it. Throws `conflict` while a key is in use, a task is open,
   * or an asset group exists. Ledger entries and ended tasks stay.
   */
  removeWorkspace(id: string, auditSource: AuditSource): Promise<void>;

  /** By name. */
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
  /** Its revoked keys move to the group `default`, or the first by name. Throws `conflict` while it has others, or is the last. */
  removeGroup(workspaceId: string, idOrName: string, auditSource: AuditSource): Promise<void>;

  /** `workspaceId` null: wherever it is. */
  key(workspaceId: string | null, id: string): Promise<ConsoleKey | null>;
  /** By id, or by the beginning of its secret when only one key has it. Throws `invalid_request` when several have it. */
  keyNamed(idOrPrefix: string): Promise<ConsoleKey | null>;
  /** By workspace and name. `workspaceId` null: of every workspace. */
  listKeys(workspaceId: string | null): Promise<readonly ConsoleKey[]>;
  /** Whether there is any key, revoked ones included. */
  hasKeys(): Promise<boolean>;
  /** A revoked key that has the name gives it up. */
  addKey(workspaceId: string, key: NewKey, auditSource: AuditSource): Promise<ConsoleKey>;
  /** What to change is decided on the key as it is within the transaction; what that throws changes nothing. */
  updateKey(
    workspaceId: string,
    id: string,
    change: (before: ConsoleKey) => KeyChange,
    auditSource: AuditSource,
  ): Promise<ConsoleKey>;
  /**
   * A secret that was still open from an earlier rotation ends now. A key that the file declares without a secret gets
   * its first one.
   */
  rotateKey(workspaceId: string, id: string, rotation: Rotation, auditSource: AuditSource): Promise<ConsoleKey>;
  /** For good, whichever secret. Revoking twice is revoking once. */
  endKey(workspaceId: string, id: string, auditSource: AuditSource): Promise<ConsoleKey>;
}
