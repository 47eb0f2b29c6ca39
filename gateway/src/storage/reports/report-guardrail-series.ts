import type { GuardrailFindings } from "@sluice/contract/console";
import type { FindingsDimension } from "@sluice/contract/words";
import { type SelectQueryBuilder, sql } from "kysely";
import type { GuardrailCheckFilter } from "#ports/index.ts";
import type { Connection } from "../database/database.ts";
import type { Tables } from "../database/schema.ts";
import { namesIn, peopleNamed } from "./report-names.ts";

/** Like in the chart of usage. */
const seriesMax = 9;
/** Different combinations of a step and of what is counted, most frequent first. */
const combinationsMax = 50_000;

/** A part of the checks of one step. */
interface Part {
  readonly step: number;
  readonly id: string;
  readonly count: number;
}

interface SeriesQuestion extends Pick<GuardrailCheckFilter, "from" | "to"> {
  readonly by: FindingsDimension;
  readonly stepMs: number;
  /** With their names at the time of the checks. */
  readonly guardrails: readonly { readonly id: string; readonly name: string }[];
}

/** Checks over time by one dimension: the largest values, and the rest. */
export async function findingsSeries(
  connection: Connection,
  checks: SelectQueryBuilder<Tables, "guardrail_checks", object>,
  { from, to, by, stepMs, guardrails }: SeriesQuestion,
): Promise<Pick<GuardrailFindings, "at" | "series">> {
  const first = from - (from % stepMs);
  const at = Array.from({ length: Math.ceil((to - first) / stepMs) }, (_, place) => first + place * stepMs);
  const parts = await partsOf(checks, by, stepMs);
  const totals = new Map<string, number>();
  for (const { id, count } of parts) totals.set(id, (totals.get(id) ?? 0) + count);
  const largest = [...totals].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
  const shown = largest.slice(0, seriesMax).map(([id]) => id);
  const ids = largest.length > seriesMax ? [...shown, ""] : shown;
  const values = new Map(ids.map((id) => [id, at.map(() => 0)]));
  for (const { step, id, count } of parts) {
    const row = values.get(id) ?? (values.get("") as number[]);
    const place = (step - first) / stepMs;
    row[place] = (row[place] ?? 0) + count;
  }
  const labels: ReadonlyMap<string, string> =
    by === "guardrail" ? new Map(guardrails.map(({ id, name }) => [id, name])) : await labelsOf(connection, by, shown);
  return {
    at,
    series: [...values].map(([id, row]) => ({
      ...{ id, label: labels.get(id) ?? id, values: row },
      total: row.reduce((sum, count) => sum + count, 0),
    })),
  };
}

async function partsOf(
  checks: SelectQueryBuilder<Tables, "guardrail_checks", object>,
  by: FindingsDimension,
  stepMs: number,
): Promise<readonly Part[]> {
  const step = sql<number>`at - at % ${sql.lit(stepMs)}`;
  const value = sql<string>`${groupedBy[by]}`;
  const rows = await checks
    .select((eb) => [step.as("step"), value.as("id"), eb.fn.countAll<number>().as("count")])
    .groupBy([step, value])
    .orderBy("count", "desc")
    .limit(combinationsMax)
    .execute();
  if (by !== "type") return rows;
  return rows.flatMap(({ step: at, id, count }) =>
    Object.entries(JSON.parse(id) as Record<string, number>).map(([type, findings]) => ({
      ...{ step: at, id: type },
      count: findings * count,
    })),
  );
}

const groupedBy = {
  verdict: sql`case when enforced = 0 then 'shadow:' || verdict else verdict end`,
  type: sql.ref("counts"),
  guardrail: sql.ref("guardrail_id"),
  person: sql`coalesce(person_id, '-')`,
  key: sql.ref("key_id"),
} as const;

async function labelsOf(
  connection: Connection,
  by: FindingsDimension,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  switch (by) {
    case "person": {
      const people = await peopleNamed(connection, ids);
      return new Map(people.map(({ id, name, email }) => [id, name === "" ? email : name]));
    }
    case "key":
      return await namesIn(connection, "api_keys", ids);
    default:
      return new Map();
  }
}
