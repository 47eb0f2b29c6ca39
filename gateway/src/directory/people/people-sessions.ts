import type { Connection } from "#storage/tables.ts";

/**
 * Ends the sessions of somebody in the transaction that changes what they may do, and whatever had begun of a sign-in: a
 * password that was given and waits for its code was given under the old rules.
 */
export async function endSessions(connection: Connection, userId: string, except: string | null = null): Promise<void> {
  let ending = connection.deleteFrom("auth_sessions").where("user_id", "=", userId);
  if (except !== null) ending = ending.where("id", "!=", except);
  await ending.execute();
  await connection.deleteFrom("auth_verifications").where("value", "=", userId).execute();
}
