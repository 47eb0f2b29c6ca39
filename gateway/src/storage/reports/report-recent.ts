import { bounds } from "#core/index.ts";
import type { Database } from "../database/database.ts";
import { alertChecks, alertShadowMarks } from "./report-alert-evidence.ts";
import { alertProviders, alertTraffic } from "./report-alerts.ts";
import { Deadline, type ReportContext } from "./report-context.ts";

const answers = { alertTraffic, alertProviders, alertChecks, alertShadowMarks };
export type RecentKind = keyof typeof answers;

/** More rows are read in a thread. */
const rowsMax = 200;

/** Answers a question about the last minutes on the event loop. null: there are too many rows. */
export async function answerRecent(
  { kysely: connection, flavour }: Pick<Database, "kysely" | "flavour">,
  kind: RecentKind,
  args: readonly unknown[],
): Promise<unknown> {
  const [first] = args as readonly [number | { readonly from: number }];
  const from = typeof first === "number" ? first : first.from;
  const table = kind === "alertChecks" ? "guardrail_checks" : "ledger";
  const row = await connection
    .selectFrom(table)
    .select("at")
    .where("at", ">=", from)
    .orderBy("at")
    .offset(rowsMax)
    .limit(1)
    .executeTakeFirst();
  if (row !== undefined) return null;
  const answer: (context: Pick<ReportContext, "connection" | "flavour" | "deadline">, ...rest: never[]) => unknown =
    answers[kind] as never;
  return await answer({ connection, flavour, deadline: new Deadline(bounds.reportMs) }, ...(args as never[]));
}
