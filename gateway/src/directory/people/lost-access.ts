import type { AuditedWrite } from "#storage/tables.ts";
import { endAgentSessions } from "../agents/agent-keys.ts";
import { withdrawLostRequests } from "../keys/key-requests.ts";

/**
 * Ends a user's agent sign-ins and key requests in workspaces where they lost the right to them. Call it in the transaction that removes
 * their rights. `removed`: the user is deleted.
 */
export async function endLostAccess(
  context: AuditedWrite,
  person: { readonly userId: string; readonly removed?: boolean },
): Promise<void> {
  await endAgentSessions(context, person);
  await withdrawLostRequests(context, person.userId);
}
