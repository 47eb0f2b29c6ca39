import type { ApiKey } from "#core/index.ts";
import type { AuditSource } from "./people-store.ts";

/** A device that asks for somebody's sign-in. Codes reach the store as digests only. Times are Unix milliseconds. */
export interface NewDevice {
  readonly deviceDigest: string;
  readonly userDigest: string;
  /** How the program calls itself, cut to a bound. */
  readonly client: string;
  readonly ip: string;
  readonly expiresAt: number;
}

/** What a person sees of a device before they decide. */
export interface WaitingDevice {
  readonly client: string;
  readonly ip: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Where a sign-in calls from: a person in a workspace, with the key that their calls are counted under. */
export interface AgentPerson {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly keyId: string;
  readonly group: string;
}

/** A sign-in of an agent. `generation` counts its refresh tokens: only the last one is good. */
export interface AgentGrant {
  readonly sessionId: string;
  readonly generation: number;
  readonly expiresAt: number;
  readonly person: AgentPerson;
}

export type PollOutcome = "pending" | "too_soon" | "denied" | "unknown" | AgentGrant;

/** One sign-in of an agent, as its person sees it. */
export interface AgentSession {
  readonly id: string;
  readonly userId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly keyId: string;
  readonly group: string;
  readonly client: string;
  readonly ip: string;
  readonly createdAt: number;
  readonly refreshedAt: number;
  readonly expiresAt: number;
}

/** What the agents of a group are to be set to. `text` is JSON with sorted keys and no white space; `checksum` is of it: `sha256:…`. */
export interface AgentSettings {
  readonly text: string;
  readonly checksum: string;
  readonly updatedAt: number;
}

/** A group, by id or name. */
export interface GroupPlace {
  readonly workspaceId: string;
  readonly group: string;
}

/** One version of a group's settings. `checksum` null: it took them away. */
export interface AgentSettingsVersion {
  readonly version: number;
  readonly at: number;
  readonly by: string;
  readonly checksum: string | null;
}

/** What a group's agents are set to now, and the version that set it so, of which there may be none. */
export interface AgentSettingsNow {
  readonly settings: AgentSettings | null;
  readonly version: AgentSettingsVersion | null;
}

export interface AgentSettingsChange {
  /** null: nothing any more. */
  readonly settings: object | null;
  /** The checksum of what is to be changed, null: of nothing; left out: whatever is there. */
  readonly replaces?: string | null | undefined;
}

/** Which group tells somebody's agents in a workspace what they are set to. */
export interface AgentSettingsPreview {
  readonly person: { readonly id: string; readonly email: string; readonly name: string };
  readonly group: { readonly id: string; readonly name: string };
  /** Of the key that they call with, which they have; else of a first sign-in, where rules may put them. */
  readonly by: "key" | "rules" | "first_sign_in";
  readonly maySignIn: boolean;
}

/**
 * Sign-ins of coding agents (RFC 8628). A person who signs an agent in calls with a key of their own in one workspace, which has no secret:
 * limits, grants and the ledger go by it as by any key. `KeyStore` finds it by `personDigest`, and each sign-in by `sessionDigest`, while
 * the person may make keys there; a change notice tells every process when that ends.
 */
export interface AgentStore {
  /** Throws `rate_limit_exceeded` when too many wait. */
  addDevice(device: NewDevice): Promise<void>;
  /** null: no such device waits. */
  waitingDevice(userDigest: string): Promise<WaitingDevice | null>;
  /**
   * Lets a waiting device in as somebody. false: it does not wait any more. Throws `forbidden` when they may not make keys in the
   * workspace, or their key there is disabled.
   */
  approve(
    userDigest: string,
    approval: { readonly userId: string; readonly workspaceId: string },
    auditSource: AuditSource,
  ): Promise<boolean>;
  deny(userDigest: string, auditSource: AuditSource): Promise<boolean>;
  /** What a device is told that asks; a device that was let in gets its sign-in, once. */
  poll(deviceDigest: string): Promise<PollOutcome>;
  /**
   * The sign-in with its next refresh token. null: there is none any more, or its person may no longer call. A token from before the last
   * one ends the sign-in: somebody has a copy.
   */
  refresh(sessionId: string, generation: number): Promise<AgentGrant | null>;
  /** Whose sign-in it is; null: there is none. */
  ownerOf(sessionId: string): Promise<string | null>;
  /** The keys that somebody's sign-ins call with, one for each workspace where they ever signed in; by workspace. */
  keysOf(userId: string): Promise<readonly ApiKey[]>;
  sessions(filter: { readonly userId: string }): Promise<readonly AgentSession[]>;
  /** `userId` null: whoever's it is. false: there is none. */
  endSession(sessionId: string, userId: string | null, auditSource: AuditSource): Promise<boolean>;
  /** null: nothing is managed for this group. */
  settingsOf(groupId: string): Promise<AgentSettings | null>;
  /** The same by id or name, with who set it. Throws `not_found` when there is no such group. */
  settingsIn(place: GroupPlace): Promise<AgentSettingsNow>;
  /** Throws `invalid_request` for what is nested too deeply, `conflict` where others are set than those that it replaces. */
  setSettings(place: GroupPlace & AgentSettingsChange, auditSource: AuditSource): Promise<AgentSettingsNow>;
  /** Newest first. */
  settingsVersions(place: GroupPlace): Promise<readonly AgentSettingsVersion[]>;
  /** null: it is not kept, or never was. `text` null: it took the settings away. */
  settingsVersion(
    place: GroupPlace & { readonly version: number },
  ): Promise<(AgentSettingsVersion & { readonly text: string | null }) | null>;
  /** `person` is an id or an address. null: they can sign no agent in there, are no member and have no key. */
  previewSettings(place: {
    readonly workspaceId: string;
    readonly person: string;
  }): Promise<AgentSettingsPreview | null>;
}
