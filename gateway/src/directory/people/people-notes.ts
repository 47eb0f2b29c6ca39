import type { AuditEvent, AuditSource } from "#ports/index.ts";
import { auditedWrite } from "#storage/tables.ts";
import type { PeopleOptions } from "./people-rows.ts";

/** A note waits for no other write about people. */
export async function note(
  { database, clock }: PeopleOptions,
  event: AuditEvent,
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite({ database, clock }, auditSource, async ({ log }) => log.note(event));
}
