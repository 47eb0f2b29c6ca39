import type { Connection } from "../database/database.ts";
import { isAfter, type PagePosition } from "../database/pages.ts";

/** The captured bodies of a request, without credentials. null: not captured. */
export interface PastCapture {
  readonly request: string | null;
  readonly answer: string | null;
  /** Only the beginning was captured. */
  readonly isCut: { readonly input: boolean; readonly output: boolean };
  /** The answer is a stream of events. */
  readonly isStream: boolean;
}

/** A check of an enforced guardrail. */
export interface PastCheck {
  readonly id: string;
  readonly at: number;
  readonly requestId: string;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly guardrailId: string;
  readonly verdict: string;
}

export interface PastChecksQuery {
  readonly guardrailIds: readonly string[];
  readonly from: number;
  /** Excluded. */
  readonly to: number;
  /** null: all workspaces. */
  readonly workspaceIds: readonly string[] | null;
}

/** By request. Captures that have expired are left out. */
export async function pastCaptures(
  connection: Connection,
  requestIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, PastCapture>> {
  if (requestIds.length === 0) return new Map();
  const rows = await connection
    .selectFrom("request_captures")
    .select(["request_id", "request_body", "response_body", "request_bytes", "response_bytes", "truncated"])
    .select("response_headers")
    .where("request_id", "in", [...requestIds])
    .where("expires_at", ">", now)
    .execute();
  const captures = rows.map((row) => {
    const capture: PastCapture = {
      request: row.request_body,
      answer: row.response_body,
      isCut: {
        input: row.truncated === 1 && isShorter(row.request_body, row.request_bytes),
        output: row.truncated === 1 && isShorter(row.response_body, row.response_bytes),
      },
      isStream: isEventStream(JSON.parse(row.response_headers)),
    };
    return [row.request_id, capture] as const;
  });
  return new Map(captures);
}

function isShorter(text: string | null, bytes: number | null): boolean {
  return text !== null && bytes !== null && Buffer.byteLength(text) < bytes;
}

function isEventStream(headers: readonly (readonly [string, string])[]): boolean {
  return headers.some(([name, value]) => name === "content-type" && /^text\/event-stream\b/i.test(value));
}

/** A page of checks that refused a request or failed, oldest first. */
export async function pastRefusals(
  connection: Connection,
  query: PastChecksQuery & { readonly after: PagePosition | null; readonly limit: number },
): Promise<readonly PastCheck[]> {
  let rows = checksOf(connection, query)
    .select(checkColumns)
    .where("side", "=", "input")
    .where("verdict", "in", ["blocked", "failed"])
    .orderBy("at")
    .orderBy("check_id")
    .limit(query.limit);
  if (query.after !== null) rows = rows.where(isAfter(["at", "check_id"], query.after, "oldest first"));
  return await rows.execute();
}

/** All checks of enforced guardrails that refused one of these requests or failed, oldest first. */
export async function refusalsOf(connection: Connection, requestIds: readonly string[]): Promise<readonly PastCheck[]> {
  if (requestIds.length === 0) return [];
  return await connection
    .selectFrom("guardrail_checks")
    .select(checkColumns)
    .where("request_id", "in", [...requestIds])
    .where("side", "=", "input")
    .where("enforced", "=", 1)
    .where("verdict", "in", ["blocked", "failed"])
    .orderBy("at")
    .orderBy("check_id")
    .execute();
}

/** Numbers of requests by guardrail and verdict. */
export async function pastVerdicts(connection: Connection, query: PastChecksQuery) {
  return await checksOf(connection, query)
    .select((eb) => [
      "guardrail_id as guardrailId",
      "verdict",
      eb.fn.count<number>("request_id").distinct().as("requests"),
    ])
    .groupBy(["guardrail_id", "verdict"])
    .execute();
}

const checkColumns = [
  "check_id as id",
  "at",
  "request_id as requestId",
  "workspace_id as workspaceId",
  "group_id as groupId",
  "key_id as keyId",
  "guardrail_id as guardrailId",
  "verdict",
] as const;

function checksOf(connection: Connection, { guardrailIds, from, to, workspaceIds }: PastChecksQuery) {
  const rows = connection
    .selectFrom("guardrail_checks")
    .where("at", ">=", from)
    .where("at", "<", to)
    .where("guardrail_id", "in", [...guardrailIds])
    .where("enforced", "=", 1);
  return workspaceIds === null ? rows : rows.where("workspace_id", "in", [...workspaceIds]);
}
