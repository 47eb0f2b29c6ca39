import type { AuditSource } from "./people-store.ts";

/** What a directory said of somebody beyond what is used here; kept to be answered with. Names as in RFC 7643. */
export type ScimAttributes = Readonly<Record<string, unknown>>;

/** A user as a directory wants one. */
export interface ScimUserForm {
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  /** Lower case: what they are known by here. */
  readonly email: string;
  /** What they are called here. */
  readonly name: string;
  readonly attributes: ScimAttributes;
}

export interface ScimUser extends ScimUserForm {
  /** Of the person; the same as everywhere else. */
  readonly id: string;
  readonly groups: readonly { readonly id: string; readonly displayName: string }[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Another with each change. */
  readonly version: number;
}

export interface ScimGroup {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  /** null: they were not asked for. */
  readonly members: readonly ScimMember[] | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly version: number;
}

export interface ScimMember {
  readonly id: string;
  readonly name: string;
}

/** Changes of a group's members, in their order. `set`: these and nobody else. */
export interface ScimMemberChange {
  readonly what: "add" | "remove" | "set";
  readonly userIds: readonly string[];
}

export interface ScimGroupChange {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members: readonly ScimMemberChange[];
}

export type ScimComparison = "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** A filter (RFC 7644, 3.4.2.2) as it was read. Paths are in lower case, without the schema's name: `name.givenname`. */
export type ScimFilter =
  | { readonly kind: "and" | "or"; readonly parts: readonly ScimFilter[] }
  | { readonly kind: "not"; readonly part: ScimFilter }
  | { readonly kind: "present"; readonly path: string }
  | { readonly kind: "some"; readonly path: string; readonly filter: ScimFilter }
  | {
      readonly kind: "compare";
      readonly path: string;
      readonly comparison: ScimComparison;
      readonly value: string | number | boolean | null;
    };

/** `offset` from 0. `limit` 0: only how many there are. */
export interface ScimPage {
  readonly filter: ScimFilter | null;
  readonly offset: number;
  readonly limit: number;
}

export interface ScimList<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** Who calls: the token's id and how audit rows name it. */
export interface ScimCaller {
  readonly tokenId: string;
  readonly name: string;
}

export interface ScimNumbers {
  readonly users: number;
  readonly inactive: number;
  readonly groups: number;
  /** Unix milliseconds, right to about a minute; null: no token that there is was used. */
  readonly lastRequestAt: number | null;
  /** Tokens that a directory can call with now. */
  readonly tokens: number;
}

/** An identity at an issuer of single sign-on that nobody has connected yet. */
export interface NewIdentity {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Ids that the directory may know the same person by. */
  readonly directoryIds: readonly string[];
  /** Lower case. */
  readonly verifiedEmail: string;
  /** Whether the issuer may speak for an address. */
  readonly speaksFor: (email: string) => boolean;
}

/**
 * Users and groups that a directory keeps here by SCIM (RFC 7643, 7644), as a second face of the people that there are.
 * Throws `conflict` with `param` for a name or an address that is taken, `conflict` without one for what may not be, and
 * `not_found`. Everything is one transaction with its audit rows, and happens one after the other with all writes about people.
 */
export interface ScimStore {
  /** null: the token is not valid, or its maker is no administrator any more. */
  caller(digest: string): Promise<ScimCaller | null>;
  numbers(): Promise<ScimNumbers>;
  users(page: ScimPage): Promise<ScimList<ScimUser>>;
  user(id: string): Promise<ScimUser | null>;
  /** Connects somebody who is there by their address, unless they are an administrator or the config file's. */
  createUser(form: ScimUserForm, auditSource: AuditSource): Promise<ScimUser>;
  /** `change` may throw; then nothing happens. */
  changeUser(id: string, change: (before: ScimUser) => ScimUserForm, auditSource: AuditSource): Promise<ScimUser>;
  /** Deactivates them; the directory finds them no more. `check` may throw. */
  removeUser(id: string, check: (before: ScimUser) => void, auditSource: AuditSource): Promise<void>;
  groups(page: ScimPage, withMembers: boolean): Promise<ScimList<ScimGroup>>;
  group(id: string, withMembers: boolean): Promise<ScimGroup | null>;
  createGroup(change: ScimGroupChange & { readonly displayName: string }, auditSource: AuditSource): Promise<ScimGroup>;
  changeGroup(id: string, change: (before: ScimGroup) => ScimGroupChange, auditSource: AuditSource): Promise<ScimGroup>;
  removeGroup(id: string, check: (before: ScimGroup) => void, auditSource: AuditSource): Promise<void>;
  /**
   * Connects an identity to somebody whom SCIM made and who has no way in yet, never to an administrator. Nothing happens when there is nobody.
   */
  connect(identity: NewIdentity): Promise<void>;
}
