import { Failure, nameFromEmail } from "#core/index.ts";
import { updateMember } from "../people/members.ts";
import { insertUser } from "../people/new-users.ts";
import { findRow } from "../rows.ts";
import type { Importing } from "./import-records.ts";
import type { ImportedWorkspaces } from "./import-workspaces.ts";

/** Users get no password: they sign in with single sign-on, or with a link of `sluice user reset`. */
export async function importUsers(importing: Importing, workspaces: ImportedWorkspaces): Promise<void> {
  for (const { email: given, name, workspaces: places } of importing.draft.users) {
    const email = given.toLowerCase();
    const userId = await importUser(importing, email, name);
    for (const { workspace, role, limits = {}, budget = null, spent } of places) {
      const workspaceId = workspaces.idOf(workspace);
      if (workspaceId === undefined) continue;
      const isNew = await importMember(importing, `${workspace}/${email}`, {
        workspaceId,
        userId,
        role,
        limits,
        budget,
      });
      if (!isNew || spent === undefined) continue;
      importing.spent({ workspaceId, groupId: "", keyId: "", personId: userId, usd: spent });
    }
  }
}

async function importUser(
  { context, earlier, made }: Importing,
  email: string,
  name = nameFromEmail(email),
): Promise<string> {
  const source = { kind: "user", source: email } as const;
  const existing = await findRow(context.transaction, "auth_users", { email });
  if (existing !== undefined) {
    earlier(source);
    return existing.id;
  }
  const id = await insertUser(context, { email, name, passwordHash: null, grants: [] });
  made({ ...source, id });
  return id;
}

type Place = Parameters<typeof updateMember>[3] & { readonly workspaceId: string; readonly userId: string };

/** Returns true if this import made the member. */
async function importMember(
  { context, earlier, made, skip }: Importing,
  label: string,
  { workspaceId, userId, ...change }: Place,
): Promise<boolean> {
  const source = { kind: "member", source: label } as const;
  if (earlier(source) !== null) return false;
  const object = `member ${label}`;
  const place = { workspace_id: workspaceId, user_id: userId };
  if ((await findRow(context.transaction, "members", place)) !== undefined) {
    skip({ object, reason: "they are a member already" });
    return false;
  }
  try {
    await updateMember(context, workspaceId, userId, change);
    made({ ...source, id: `${workspaceId}/${userId}` });
    return true;
  } catch (thrown) {
    // Refused before anything was written.
    if (!(thrown instanceof Failure) || thrown.code !== "managed_by_file") throw thrown;
    skip({ object, reason: "the config file declares the workspaces of this user" });
    return false;
  }
}
