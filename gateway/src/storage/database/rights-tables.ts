import type { WorkspaceRole } from "@sluice/contract/words";

/** What sources say of people, and what rules give for it. */
export interface RightsTables {
  person_claims: PersonClaimsTable;
  given_rights: GivenRightsTable;
  person_groups: PersonGroupTable;
}

interface PersonClaimsTable {
  user_id: string;
  /** `oidc:<account>` or `scim`. */
  source: string;
  /** JSON: by path, what the rules of the source read when it was said; null where there was nothing. */
  claims: string;
  /** Of the rules by which it was last put into rights. */
  rules_digest: string;
  /** The issuer's, sealed; null: it gave none, or it does no more. */
  refresh_token: string | null;
  /** When the source last said this. */
  said_at: number;
  /** When the issuer was last asked by its refresh token; 0: not yet. */
  asked_at: number;
}

/**
 * What a source gives somebody in one place. As soon as one gives a role there, what they hold by hand is a row of the source `manual`, and
 * they hold the highest of all rows; without any row, what they hold is by hand.
 */
interface GivenRightsTable {
  user_id: string;
  source: string;
  /** Empty: the installation. */
  workspace_id: string;
  role: WorkspaceRole | "administrator" | null;
  group_id: string | null;
  /** The names of the rules, for people. */
  rules: string;
}

/** Which group rules last put somebody's key for sign-ins into. A key that stands elsewhere was moved by hand. */
interface PersonGroupTable {
  user_id: string;
  workspace_id: string;
  group_id: string;
}
