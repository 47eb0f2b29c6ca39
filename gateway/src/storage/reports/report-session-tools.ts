import type { ToolUse } from "@sluice/contract/console";
import type { SelectQueryBuilder } from "kysely";
import type { Tables } from "../database/schema.ts";
import type { ReportContext } from "./report-context.ts";

/** The latest ones are read. */
const capturesReadMax = 10_000;

type RequestIds = SelectQueryBuilder<Tables, "ledger_entries", { request_id: string }>;

/** Tools of the caller by request, for requests of a key with captured bodies. */
export async function capturedTools(
  { connection, deadline }: ReportContext,
  keyId: string,
  requestIds: readonly string[] | RequestIds,
): Promise<ReadonlyMap<string, readonly ToolUse[]>> {
  const captures = await connection
    .selectFrom("request_captures")
    .select(["request_id", "tools"])
    .where("request_id", "in", requestIds)
    .where("key_id", "=", keyId)
    .where("tools", "is not", null)
    .orderBy("at", "desc")
    .limit(capturesReadMax)
    .execute();
  deadline.check();
  return new Map(captures.map(({ request_id: id, tools }) => [id, JSON.parse(tools ?? "[]") as readonly ToolUse[]]));
}
