/** Tables of what a directory has provisioned over SCIM. */
export interface ScimTables {
  scim_users: ScimUserTable;
  scim_groups: ScimGroupTable;
  scim_members: ScimMemberTable;
}

/** A person as a directory sends them; name, address and whether they are disabled stand in `auth_users`. */
interface ScimUserTable {
  user_id: string;
  user_name: string;
  /** In lower case, free for another once the directory removed the user. */
  name_key: string | null;
  external_id: string | null;
  /** JSON. */
  attributes: string;
  /** Whether nobody was here before: the directory made them. */
  made: number;
  /** Whether it was the directory that disabled them. */
  deactivated: number;
  /** When it removed them; the row stays to know them by should they come back. */
  removed_at: number | null;
  version: number;
  created_at: number;
  updated_at: number;
}

interface ScimGroupTable {
  id: string;
  display_name: string;
  /** In lower case. */
  name_key: string;
  external_id: string | null;
  version: number;
  created_at: number;
  updated_at: number;
}

interface ScimMemberTable {
  group_id: string;
  user_id: string;
}
