import type { GuardrailCheckRow, GuardrailFindings } from "@sluice/contract/console";
import type { FindingsDimension } from "@sluice/contract/words";
import { type ExpressionBuilder, sql } from "kysely";
import type { GuardrailCheckFilter, Paged } from "#ports/index.ts";
import { contains, equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import type { Connection } from "../database/database.ts";
import { cursorOf, cutPage, isAfter, parseCursor } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { inOneSnapshot, type ReportContext } from "./report-context.ts";
import { findingsSeries } from "./report-guardrail-series.ts";
import { namesIn, namesOf, peopleNamed } from "./report-names.ts";

const ofRequestMax = 100;
const guardrailsMax = 200;
const typesMax = 100;
const callersMax = 50;
/** Different combinations of findings that are added up to the findings by type, most frequent first. */
const combinationsMax = 10_000;

/** Of a request, in the order they were made. */
export async function requestChecks(
  { connection }: ReportContext,
  requestId: string,
): Promise<readonly GuardrailCheckRow[]> {
  const rows = await connection
    .selectFrom("guardrail_checks")
    .selectAll()
    .where("request_id", "=", requestId)
    .orderBy("at")
    .orderBy("check_id")
    .limit(ofRequestMax)
    .execute();
  return await shownChecks(connection, rows);
}

export async function guardrailChecks(
  { connection }: ReportContext,
  filter: GuardrailCheckFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<GuardrailCheckRow>> {
  let query = matching(connection, filter)
    .selectAll()
    .orderBy("at", "desc")
    .orderBy("check_id", "desc")
    .limit(limit + 1);
  if (cursor !== null) query = query.where(isAfter(["at", "check_id"], parseCursor(cursor)));
  const { page, next } = cutPage(await query.execute(), limit, ({ at, check_id: id }) => cursorOf({ at, id }));
  return { data: await shownChecks(connection, page), next };
}

export async function guardrailFindings(
  context: ReportContext,
  filter: GuardrailCheckFilter,
  by: FindingsDimension,
  stepMs: number,
): Promise<GuardrailFindings> {
  return await inOneSnapshot(context, async ({ connection, deadline }) => {
    const some = () => {
      deadline.check();
      return matching(connection, filter);
    };
    const totals = await some().select(sums).executeTakeFirstOrThrow();
    const guardrails = await some()
      .select((eb) => [
        "guardrail_id as id",
        eb.fn.max("guardrail_name").as("name"),
        "verdict",
        "enforced",
        ...sums(eb),
      ])
      .groupBy(["guardrail_id", "verdict", "enforced"])
      .orderBy("checks", "desc")
      .orderBy("id")
      .limit(guardrailsMax)
      .execute();
    return {
      from: filter.from,
      to: filter.to,
      step_ms: stepMs,
      totals: { ...totals, checked: await checkedOf(connection, filter) },
      ...(await findingsSeries(connection, some(), { ...filter, by, stepMs, guardrails })),
      guardrails: guardrails.map((row) => ({ ...row, enforced: row.enforced === 1 })),
      types: await typesOf(some()),
      ...(await callersOf(connection, some)),
    };
  });
}

type Checks = ReturnType<typeof matching>;

function matching(connection: Connection, filter: GuardrailCheckFilter) {
  const { workspaceId, from, to, type, enforced, visiblePerson, model } = filter;
  let query = connection
    .selectFrom("guardrail_checks")
    .where("at", ">=", from)
    .where("at", "<", to)
    .where((eb) =>
      eb.and(
        equalsGiven<Row<"guardrail_checks">>({
          workspace_id: workspaceId ?? undefined,
          guardrail_id: filter.guardrailId,
          ...{ side: filter.side, verdict: filter.verdict, key_id: filter.keyId, person_id: filter.personId },
          enforced: enforced === undefined ? undefined : Number(enforced),
        }),
      ),
    );
  // The name of a member of the JSON, in quotes.
  if (type !== undefined) query = query.where((eb) => contains(eb.ref("counts"), `${JSON.stringify(type)}:`));
  if (model !== undefined) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom("ledger_entries")
          .select(sql.lit(1).as("one"))
          .whereRef("ledger_entries.request_id", "=", "guardrail_checks.request_id")
          .where((eb) => equalsWithoutIndex(eb.ref("ledger_entries.model"), model)),
      ),
    );
  }
  if (visiblePerson !== undefined) {
    query = query.where((eb) => eb.or([eb("person_id", "is", null), eb("person_id", "=", visiblePerson)]));
  }
  return query;
}

function sums(eb: ExpressionBuilder<Tables, "guardrail_checks">) {
  return [
    eb.fn.countAll<number>().as("checks"),
    eb.fn.count<number>("request_id").distinct().as("requests"),
    eb.fn.count<number>("person_id").distinct().as("people"),
  ] as const;
}

/** All checks by the hourly counts. They do not have types, keys and people. */
async function checkedOf(connection: Connection, filter: GuardrailCheckFilter): Promise<number | null> {
  const { workspaceId, from, to, guardrailId, side, enforced } = filter;
  const { type, keyId, personId, visiblePerson, model } = filter;
  const isNarrow = [type, keyId, personId, visiblePerson, model].some((each) => each !== undefined);
  if (isNarrow) return null;
  const { checked } = await connection
    .selectFrom("guardrail_hours")
    .select((eb) => eb.fn.sum<number | null>("checks").as("checked"))
    .where("hour", ">=", from - (from % hourMs))
    .where("hour", "<", to)
    .where((eb) =>
      eb.and(
        equalsGiven<Row<"guardrail_hours">>({
          workspace_id: workspaceId ?? undefined,
          guardrail_id: guardrailId,
          ...{ side, enforced: enforced === undefined ? undefined : Number(enforced) },
        }),
      ),
    )
    .executeTakeFirstOrThrow();
  return checked ?? 0;
}

async function typesOf(some: Checks): Promise<GuardrailFindings["types"]> {
  const rows = await some
    .select((eb) => ["counts", eb.fn.countAll<number>().as("checks")])
    .groupBy("counts")
    .orderBy("checks", "desc")
    .limit(combinationsMax)
    .execute();
  const byType = new Map<string, number>();
  for (const { counts, checks } of rows) {
    for (const [type, count] of Object.entries(JSON.parse(counts) as Record<string, number>)) {
      byType.set(type, (byType.get(type) ?? 0) + count * checks);
    }
  }
  return [...byType]
    .map(([type, findings]) => ({ type, findings }))
    .sort((one, other) => other.findings - one.findings || (one.type < other.type ? -1 : 1))
    .slice(0, typesMax);
}

async function callersOf(
  connection: Connection,
  some: () => Checks,
): Promise<Pick<GuardrailFindings, "people" | "keys">> {
  const by = async (column: "person_id" | "key_id") =>
    await some()
      .where(column, "is not", null)
      .select((eb) => {
        const [checks, requests] = sums(eb);
        return [eb.fn.coalesce(column, sql.lit("")).as("id"), checks, requests];
      })
      .groupBy(column)
      .orderBy("checks", "desc")
      .orderBy("id")
      .limit(callersMax)
      .execute();
  const keys = await by("key_id");
  const people = await by("person_id");
  const ids = keys.map(({ id }) => id);
  const names = await namesIn(connection, "api_keys", ids);
  const named = new Map(
    (
      await peopleNamed(
        connection,
        people.map(({ id }) => id),
      )
    ).map((person) => [person.id, person]),
  );
  return {
    people: people.map(({ id, ...counted }) => ({ person: named.get(id) ?? { id, email: id, name: "" }, ...counted })),
    keys: keys.map(({ id, ...counted }) => ({ id, name: names.get(id) ?? id, ...counted })),
  };
}

async function shownChecks(
  connection: Connection,
  rows: readonly Row<"guardrail_checks">[],
): Promise<readonly GuardrailCheckRow[]> {
  const owned = rows.map((row) => ({
    ...{ workspaceId: row.workspace_id, groupId: row.group_id, keyId: row.key_id },
    ...(row.person_id === null ? {} : { personId: row.person_id }),
  }));
  const names = await namesOf(connection, owned);
  return rows.map((row) => {
    const { check_id: id, workspace_id, group_id, key_id, person_id, guardrail_id, guardrail_name, ...rest } = row;
    return {
      ...{ id, ...rest },
      workspace: names.workspace(workspace_id),
      group: names.group(group_id),
      key: names.key(key_id),
      person: person_id === null ? null : names.person(person_id),
      guardrail: { id: guardrail_id, name: guardrail_name },
      enforced: row.enforced === 1,
      counts: JSON.parse(row.counts),
      paths: JSON.parse(row.paths),
    };
  });
}
