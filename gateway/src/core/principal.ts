import type { Capture } from "@sluice/contract/words";
import type { PolicyCaller } from "./budget-policy.ts";
import type { BudgetPolicy, LimitScope, ScopeKind } from "./limit.ts";

/** Model names; `*` matches any characters. */
export type ModelPatterns = readonly string[];

/** Ids of providers whose own API may be used; empty for none. */
type ProviderIds = readonly string[];

export interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly models: ModelPatterns;
  /** Models of a grant in shadow mode. `models` then allows every model. */
  readonly shadowModels?: ModelPatterns;
  readonly passThrough: ProviderIds;
  readonly scope: LimitScope;
  readonly enabled: boolean;
}

export interface Group extends Omit<Workspace, "slug" | "enabled"> {
  readonly workspaceId: string;
}

/** A stored key, without its secret. Times are Unix milliseconds. */
export interface ApiKey extends Omit<Group, "models"> {
  readonly groupId: string;
  /** The first characters and the last four of the secret. */
  readonly prefix: string;
  readonly lastFour: string;
  /** null: every model of the group. */
  readonly models: ModelPatterns | null;
  readonly allowedIps: readonly string[] | null;
  /** Addresses of a grant in shadow mode. `allowedIps` is then null. */
  readonly shadowIps?: readonly string[];
  /** false also for a revoked key. */
  readonly enabled: boolean;
  readonly revoked?: true;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Parts of its requests to capture. */
  readonly capture: Capture;
  /** Set if the key was found by its previous secret: when that one expires. */
  readonly secretUntil?: number;
  /** The user id, for a key that belongs to a user's sign-ins and has no secret. */
  readonly personId?: string;
  /** The owner's user id, for a personal key with a secret. */
  readonly ownerId?: string;
  /** Limits of that person in the workspace; absent if there are none. */
  readonly personScope?: LimitScope;
}

/** The authenticated caller of a call. `scopes` are all its limits, widest first. */
export interface Principal {
  readonly key: ApiKey;
  readonly group: Group;
  readonly workspace: Workspace;
  /** User id of the key's owner, who pays for its calls; null for a key without an owner. */
  readonly person: string | null;
  /** User id of the signed-in user who calls in the console; absent for all other calls. */
  readonly actor?: string;
  readonly scopes: readonly LimitScope[];
  /** Budget policies that may apply to its calls; absent: none. */
  readonly policies?: readonly BudgetPolicy[];
  /** The call came from outside of the key's `shadowIps`. */
  readonly outsideShadowIps?: true;
}

/** A grant in shadow mode that would have refused a call. */
export interface ShadowDenial {
  readonly grant: "models" | "allowed_ips";
  readonly scope: ScopeKind;
  /** `models of key acme/ci`. */
  readonly text: string;
}

/** User id of the caller of a key. */
export function personOf({ personId, ownerId }: Pick<ApiKey, "personId" | "ownerId">): string | null {
  return personId ?? ownerId ?? null;
}

/** The caller as budget policies see it. */
export function policyCaller({
  key,
  group,
  workspace,
  person,
}: Pick<Principal, "key" | "group" | "workspace" | "person">): PolicyCaller {
  return {
    workspaceId: workspace.id,
    groupId: group.id,
    keyId: key.id,
    ...(person === null ? {} : { personId: person }),
  };
}

/** For ledger entries and tasks. */
export function peopleFields({ person, actor }: Pick<Principal, "person" | "actor">): {
  readonly personId?: string;
  readonly actorId?: string;
} {
  return {
    ...(person === null ? {} : { personId: person }),
    ...(actor === undefined ? {} : { actorId: actor }),
  };
}

/** Digest of the key used by a user's sign-ins. No secret has such a digest. */
export function personDigest(keyId: string): string {
  return `person:${keyId}`;
}

/**
 * Digest of an imported key until its secret is used here. `digest`: the vault's, of the hexadecimal SHA-256 of the secret. No secret
 * has such a digest.
 */
export function importedDigest(digest: string): string {
  return `imported:${digest}`;
}

export function sessionDigest(sessionId: string): string {
  return `sign-in:${sessionId}`;
}

/** All limits of a key, widest first. */
export function scopesOf(
  workspace: Pick<Workspace, "scope">,
  group: Pick<Group, "scope">,
  { scope, personScope }: Pick<ApiKey, "scope" | "personScope">,
): readonly LimitScope[] {
  const scopes = [workspace.scope, group.scope, scope];
  if (personScope !== undefined) scopes.splice(2, 0, personScope);
  return Object.freeze(scopes);
}
