import type { AuditSource } from "#ports/index.ts";
import type { PeopleOptions } from "./people-write.ts";

/** What happened outside the stores, as a row of the audit log. */
export async function note(
  { database, clock }: PeopleOptions,
  event: {
    readonly action: string;
    readonly object: string;
    readonly workspaceId: string | null;
    readonly after?: unknown;
  },
  auditSource: AuditSource,
): Promise<void> {
  await database.kysely
    .insertInto("audit_log")
    .values({
      at: clock.now(),
      actor: auditSource.actor,
      ip: auditSource.ip,
      workspace_id: event.workspaceId,
      action: event.action,
      object: event.object,
      before: null,
      after: event.after === undefined ? null : JSON.stringify(event.after),
    })
    .execute();
}
