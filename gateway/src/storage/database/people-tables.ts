import type { WorkspaceRole } from "@sluice/contract/words";

/** Members, invitations, admin tokens. A user is a row of `auth_users`; of a secret only its digest is here. */
export interface PeopleTables {
  members: MemberTable;
  invitations: InvitationTable;
  admin_tokens: AdminTokenTable;
  password_resets: PasswordResetTable;
  person_limits: PersonLimitTable;
}

/** Only where something limits them. It outlives a membership: who comes back finds it. Migration 042. */
interface PersonLimitTable {
  workspace_id: string;
  user_id: string;
  limits: string;
  budget: string | null;
}

interface MemberTable {
  workspace_id: string;
  user_id: string;
  role: WorkspaceRole;
  since: number;
}

/** Either of an administrator, or of a role in a workspace; then `administrator` is 0 and the two others are there. */
interface GrantColumns {
  administrator: number;
  workspace_id: string | null;
  role: WorkspaceRole | null;
}

interface InvitationTable extends GrantColumns {
  id: string;
  /** Lower case. */
  email: string;
  digest: string;
  invited_by: string;
  created_at: number;
  expires_at: number;
}

interface AdminTokenTable extends GrantColumns {
  id: string;
  name: string;
  digest: string;
  prefix: string;
  owner_id: string;
  /** The token that made this one and takes it along when it is revoked; null: somebody with a session. */
  made_with: string | null;
  /** `scim`: a directory's, which may do nothing else; null: an admin token. */
  scope: "scim" | null;
  created_at: number;
  expires_at: number | null;
  /** Right to about a minute. */
  last_used_at: number | null;
}

/** One for a user: a new link takes the place of the one before. */
interface PasswordResetTable {
  user_id: string;
  digest: string;
  expires_at: number;
}

/** The row of `settings` that every write about people takes hold of first, so that they happen one after the other. */
export const peopleLock = "people.lock";
