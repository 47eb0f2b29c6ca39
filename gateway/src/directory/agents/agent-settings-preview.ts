import type { AgentSettingsPreview } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";
import { mayHoldKeys } from "../people/people-keys.ts";
import { firstGroup, givenGroup } from "./agent-groups.ts";
import { groupRow } from "./agent-settings.ts";

/** Which group tells somebody's agents what they are set to. null: they can sign no agent in there, are no member and have no key. */
export async function previewSettings(
  connection: Connection,
  { workspaceId, person }: { readonly workspaceId: string; readonly person: string },
): Promise<AgentSettingsPreview | null> {
  const user = await connection
    .selectFrom("auth_users")
    .leftJoin("members", (join) =>
      join.onRef("members.user_id", "=", "auth_users.id").on("members.workspace_id", "=", workspaceId),
    )
    .leftJoin("api_keys", (join) =>
      join
        .onRef("api_keys.person_id", "=", "auth_users.id")
        .on("api_keys.workspace_id", "=", workspaceId)
        .on("api_keys.revoked_at", "is", null),
    )
    .select([
      "auth_users.id",
      "auth_users.email",
      "auth_users.name",
      "members.role",
      "api_keys.group_id",
      "api_keys.enabled",
    ])
    .where((eb) => eb.or([eb("auth_users.id", "=", person), eb("auth_users.email", "=", person.toLowerCase())]))
    .executeTakeFirst();
  if (user === undefined) return null;
  const mayCall = await mayHoldKeys(connection, workspaceId, user.id);
  if (user.role === null && user.group_id === null && !mayCall) return null;
  const given = user.group_id === null ? await givenGroup(connection, workspaceId, user.id) : null;
  const groupId = user.group_id ?? given ?? (await firstGroup(connection, workspaceId));
  return {
    person: { id: user.id, email: user.email, name: user.name },
    group: await groupRow(connection, workspaceId, groupId),
    by: user.group_id !== null ? "key" : given !== null ? "rules" : "first_sign_in",
    maySignIn: user.enabled !== 0 && mayCall,
  };
}
