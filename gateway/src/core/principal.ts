import type { Capture } from "@sluice/contract/words";
import type { LimitScope } from "./limit.ts";

/** Patterns of model names: exact, or with `*` for any run of characters. */
export type ModelPatterns = readonly string[];

/** Providers whose whole API may be used, each by its id; empty: none. */
type ProviderIds = readonly string[];

export interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly models: ModelPatterns;
  readonly passThrough: ProviderIds;
  readonly scope: LimitScope;
  readonly enabled: boolean;
}

export interface Group extends Omit<Workspace, "slug" | "enabled"> {
  readonly workspaceId: string;
}

/** A caller's key as stored: never the secret, only its digest's row. Times are Unix milliseconds. */
export interface ApiKey extends Omit<Group, "models"> {
  readonly groupId: string;
  /** First characters and last four of the secret, to recognise it by. */
  readonly prefix: string;
  readonly lastFour: string;
  /** null: whatever the group may call. */
  readonly models: ModelPatterns | null;
  readonly allowedIps: readonly string[] | null;
  readonly enabled: boolean;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** What of its requests is kept for a while, to be looked at. */
  readonly capture: Capture;
  /** Only when it was found by the secret before its last rotation: until when that one still opens. */
  readonly secretUntil?: number;
  /** Of the key that somebody's sign-ins call with, which has no secret: the id of that user. */
  readonly personId?: string;
  /** Of a personal key, which has a secret: the id of the user whose calls it makes. */
  readonly ownerId?: string;
  /** What limits that person in the workspace; left out where nothing does. */
  readonly personScope?: LimitScope;
}

/** The authenticated caller, frozen for the call. `scopes` are all that limit it, widest first. */
export interface Principal {
  readonly key: ApiKey;
  readonly group: Group;
  readonly workspace: Workspace;
  /** User id of whoever calls: by a sign-in or with a personal key. null: a key of no one person. */
  readonly person: string | null;
  readonly scopes: readonly LimitScope[];
}

/** Whose calls a key makes. */
export function personOf({ personId, ownerId }: Pick<ApiKey, "personId" | "ownerId">): string | null {
  return personId ?? ownerId ?? null;
}

/** As entries of the ledger and tasks say it: nothing where there is none. */
export function personField({ person }: Pick<Principal, "person">): { readonly personId?: string } {
  return person === null ? {} : { personId: person };
}

/** Where the key is found that somebody's sign-ins call with. No secret has such a digest. */
export function personDigest(keyId: string): string {
  return `person:${keyId}`;
}

export function sessionDigest(sessionId: string): string {
  return `sign-in:${sessionId}`;
}

/** Everything that limits the calls of a key, widest first. */
export function scopesOf(
  workspace: Pick<Workspace, "scope">,
  group: Pick<Group, "scope">,
  { scope, personScope }: Pick<ApiKey, "scope" | "personScope">,
): readonly LimitScope[] {
  const scopes = [workspace.scope, group.scope, scope];
  if (personScope !== undefined) scopes.splice(2, 0, personScope);
  return Object.freeze(scopes);
}
