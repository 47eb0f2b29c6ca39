import type { AgentSettingsPreview } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import { groupOfNewKey } from "./agent-groups.ts";
import { groupRow, settingsOf } from "./agent-settings.ts";
import { mayHoldKeys } from "./people-keys.ts";

/** What somebody's agents would be told in a workspace. null: they are no member, and have no key there. */
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
  if (user === undefined || (user.role === null && user.group_id === null)) return null;
  const groupId = user.group_id ?? (await groupOfNewKey(connection, workspaceId, user.id));
  return {
    person: { id: user.id, email: user.email, name: user.name },
    group: await groupRow(connection, workspaceId, groupId),
    hasKey: user.group_id !== null,
    maySignIn: user.enabled !== 0 && (await mayHoldKeys(connection, workspaceId, user.id)),
    settings: await settingsOf(connection, groupId),
  };
}
