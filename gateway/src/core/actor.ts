import type { WorkspaceRole } from "@sluice/contract";

/**
 * Who takes a call of the admin API: a user with a session, or an admin token. What a token may do is the least of its
 * own grant and what its maker may do now.
 */
export interface Actor {
  readonly kind: "user" | "token";
  /** Of the user; a token's maker. */
  readonly userId: string;
  /** As audit rows name it: an e-mail address, with the token's name behind it. */
  readonly name: string;
  readonly administrator: boolean;
  /** By workspace id. */
  readonly roles: ReadonlyMap<string, WorkspaceRole>;
  /** Signed in lately enough for what is dangerous; always true of a token. */
  readonly fresh: boolean;
}
