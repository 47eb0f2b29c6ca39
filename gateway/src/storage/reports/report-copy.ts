import { sql } from "kysely";
import type { ReportContext } from "./report-desk.ts";

/** A whole copy of the database as it is at this moment, in a file that is there and empty. */
export async function copyDatabase({ connection }: ReportContext, path: string): Promise<null> {
  await sql`vacuum into ${path}`.execute(connection);
  return null;
}
