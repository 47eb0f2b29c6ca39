import type { KeyRequestState, WorkspaceRole } from "@sluice/contract/words";

/**
 * People with their roles and tokens, users and groups from SCIM, and coding agents. A user is a row of `auth_users`. Of secrets, only
 * digests are stored.
 */
export interface PeopleTables {
  members: {
    workspace_id: string;
    user_id: string;
    role: WorkspaceRole;
    since: number;
  };
  /** Expired when `expires_at` has passed in the states `pending` and `approved`. */
  key_requests: {
    id: string;
    workspace_id: string;
    requester_id: string;
    purpose: string;
    state: Exclude<KeyRequestState, "expired">;
    /** JSON: the requested settings of the key, and the approved ones. */
    requested: string;
    granted: string | null;
    reason: string | null;
    /** User id. */
    decided_by: string | null;
    decided_at: number | null;
    key_id: string | null;
    created_at: number;
    /** The end of the request; once approved, the last time to collect the key. */
    expires_at: number;
  };
  invitations: GrantColumns & {
    id: string;
    /** Lower case. */
    email: string;
    digest: string;
    invited_by: string;
    created_at: number;
    expires_at: number;
  };
  admin_tokens: GrantColumns & {
    id: string;
    name: string;
    digest: string;
    prefix: string;
    owner_id: string;
    /** The token that created this one; revoking it revokes this one, too. null: created in a session. */
    made_with: string | null;
    /** `scim`: a SCIM token, which can only be used for SCIM; null: an admin token. */
    scope: "scim" | null;
    created_at: number;
    expires_at: number | null;
    /** Accurate to about a minute. */
    last_used_at: number | null;
  };
  /** At most one per user: a new link replaces the previous one. */
  password_resets: {
    user_id: string;
    digest: string;
    expires_at: number;
  };
  /** Only for people with a limit or budget. The row remains when a member leaves, and applies again if they come back. */
  person_limits: {
    workspace_id: string;
    user_id: string;
    limits: string;
    budget: string | null;
  };
  person_claims: {
    user_id: string;
    /** `oidc:<account>` or `scim`. */
    source: string;
    /** JSON: the claims that the rules of the source read, by path; null if there were none. */
    claims: string;
    /** Digest of the rules that were last applied to these claims. */
    rules_digest: string;
    /** The issuer's refresh token, sealed; null: it issued none, or the token is no longer valid. */
    refresh_token: string | null;
    /** When the source last sent the claims. */
    received_at: number;
    /** When the claims were last requested with the refresh token; 0: not yet. */
    checked_at: number;
  };
  /**
   * The role that a source grants a person in one workspace. Once a source grants one there, the manually granted role is a row of the
   * source `manual`, and the highest of all rows applies. Without rows, the role was granted manually.
   */
  granted_rights: {
    user_id: string;
    source: string;
    /** Empty: the whole installation. */
    workspace_id: string;
    role: WorkspaceRole | "administrator" | null;
    group_id: string | null;
    /** The names of the rules, for display. */
    rules: string;
  };
  /** The group that rules last chose for a person's sign-in key. If the key is in another group, it was moved manually. */
  person_groups: {
    user_id: string;
    workspace_id: string;
    group_id: string;
  };
  /** A person as sent by a directory; name, address and status are in `auth_users`. */
  scim_users: {
    user_id: string;
    user_name: string;
    /** In lower case. Can be used for another user after the directory removes this one. */
    name_key: string | null;
    external_id: string | null;
    /** JSON. */
    attributes: string;
    /** Whether the directory created the person. */
    made: number;
    /** Whether the directory disabled the person. */
    deactivated: number;
    /** When the directory removed the person. The row is kept to recognize them if they come back. */
    removed_at: number | null;
    version: number;
    created_at: number;
    updated_at: number;
  };
  scim_groups: {
    id: string;
    display_name: string;
    /** In lower case. */
    name_key: string;
    external_id: string | null;
    version: number;
    created_at: number;
    updated_at: number;
  };
  scim_members: {
    group_id: string;
    user_id: string;
  };
  /** Only digests of codes are stored. Tokens of coding agents are not stored at all. */
  agent_devices: {
    device_digest: string;
    user_digest: string;
    state: "pending" | "approved" | "denied";
    client: string;
    ip: string;
    created_at: number;
    expires_at: number;
    /** When the agent last polled; 0: not yet. */
    polled_at: number;
    /** The user who approved the device, and the key for its calls. */
    user_id: string | null;
    key_id: string | null;
  };
  /** `generation` counts issued refresh tokens; `refreshed_at` is the time of the last one. */
  agent_sessions: {
    id: string;
    user_id: string;
    key_id: string;
    generation: number;
    client: string;
    ip: string;
    created_at: number;
    refreshed_at: number;
    expires_at: number;
  };
  /**
   * Every version of a group's settings, numbered from 1; the last one is current. `settings` is JSON with sorted keys, and `checksum` is
   * its checksum; null: this version removed the settings.
   */
  agent_settings_versions: {
    group_id: string;
    version: number;
    settings: string | null;
    checksum: string | null;
    at: number;
    actor: string;
  };
}

/** Either `administrator` is 1, or it is 0 and the other two columns grant a role in a workspace. */
interface GrantColumns {
  administrator: number;
  workspace_id: string | null;
  role: WorkspaceRole | null;
}

/**
 * The tables of the console's sign-in. The library behind the port `SignIn` writes them, so they use its formats: a time is ISO 8601 text
 * in SQLite and `timestamptz` in PostgreSQL, a flag 0 or 1 or a boolean. In `auth_users`, the columns from `administrator` on belong to the
 * gateway and use its formats. Columns that only the library reads are left out.
 */
export interface SignInTables {
  auth_users: {
    id: string;
    name: string;
    /** Lower case. */
    email: string;
    email_verified: number;
    image: string | null;
    created_at: string;
    updated_at: string;
    two_factor_enabled: number;
    /** Language of the console; null: the language of the browser. */
    language: string | null;
    administrator: number;
    disabled: number;
    /** Unix milliseconds, accurate to about a minute; null: never. */
    last_seen_at: number | null;
  };
  /** `updated_at` is when the session was last used. */
  auth_sessions: {
    id: string;
    user_id: string;
    /** Digest of the cookie's token. */
    token: string;
    expires_at: string;
    created_at: string;
    updated_at: string;
    ip_address: string | null;
    user_agent: string | null;
  };
  /** A way to sign in: a password (issuer `local:credential`), or an account at an issuer of single sign-on. */
  auth_accounts: {
    id: string;
    user_id: string;
    issuer: string;
    account_id: string;
    provider_id: string;
    /** argon2id, as a PHC string. */
    password: string | null;
    created_at: string;
    updated_at: string;
  };
  /** Sign-in steps in progress: a challenge, a sign-in that waits for its second factor, a redirect to an issuer. */
  auth_verifications: {
    id: string;
    identifier: string;
    value: string;
    expires_at: string;
    created_at: string;
    updated_at: string;
  };
  auth_two_factors: { id: string; user_id: string };
  auth_passkeys: { id: string; user_id: string };
}
