/** Responses of the sign-in calls. Times are Unix milliseconds. */
export interface AuthAccount {
  readonly user: { readonly id: string; readonly email: string; readonly name: string };
  /** Whether the user has a password; single sign-on users may have none. */
  readonly password: boolean;
  readonly two_factor: boolean;
  readonly passkeys: number;
  readonly connections: readonly AuthConnection[];
  readonly session: AuthSession;
}

export interface AuthSession {
  readonly id: string;
  readonly current: boolean;
  readonly fresh: boolean;
  readonly created_at: number;
  readonly seen_at: number;
  readonly ends_at: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
}

/** A single sign-on account that is connected to the user. */
export interface AuthConnection {
  readonly id: string;
  readonly provider: string;
  /** null: the gateway no longer accepts it. */
  readonly name: string | null;
  readonly issuer: string;
  readonly connected_at: number;
}

export interface AuthPasskey {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: number | null;
  /** Whether a password manager or cloud account synchronizes it. */
  readonly synced: boolean;
}

export interface AuthList<Item> {
  readonly data: readonly Item[];
}
