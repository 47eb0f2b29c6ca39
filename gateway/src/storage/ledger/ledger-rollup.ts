import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { otherUserAgents, userAgentFamilies, userAgentFamily } from "#core/index.ts";
import type { Connection, Flavour } from "../database/database.ts";
import { foldedSketch, sketchOf } from "../database/latency-sketch.ts";
import type { LatencyColumn, Row, Tables } from "../database/schema.ts";
import { inIntent, inSettlement, type LedgerRecord, type RecordHead } from "../journal/record-text.ts";
import { type UsageColumn, usageColumns } from "./ledger-columns.ts";

export const hourMs = 3_600_000;

/** The primary key of a rollup. `person_id`, `tags` and `user_agent` are empty if there is none. */
export const rollupScope = [
  "hour",
  "workspace_id",
  "group_id",
  "key_id",
  "person_id",
  "model",
  "provider",
  "user_agent",
  "endpoint",
  "tags",
] as const;

/** Sums of a rollup, without sketches. */
export const rollupSums = [
  "attempts",
  "requests",
  "succeeded",
  "cancelled",
  ...usageColumns,
  "cost_nano_usd",
  "vendor_cost_nano_usd",
  "compared_cost_nano_usd",
  "cache_saved_nano_usd",
] as const satisfies readonly (keyof Row<"usage_rollups">)[];

/** SQL expressions for what one entry adds to each sum of its rollup. They must agree with `add`. */
const entrySums = {
  ...(Object.fromEntries(usageColumns.map((column) => [column, column])) as Record<UsageColumn, string>),
  attempts: "calls",
  requests: "case when retry_index = 0 then calls else 0 end",
  succeeded: "case when outcome = 'succeeded' then calls else 0 end",
  cancelled: "case when outcome = 'cancelled' then calls else 0 end",
  cost_nano_usd: "cost_nano_usd",
  vendor_cost_nano_usd: "coalesce(vendor_cost_nano_usd, 0)",
  compared_cost_nano_usd:
    "case when vendor_cost_nano_usd is null then 0 when cost_source = 'vendor' then coalesce(own_cost_nano_usd, 0) else cost_nano_usd end",
  cache_saved_nano_usd: "coalesce(cache_saved_nano_usd, 0)",
} as const satisfies Record<(typeof rollupSums)[number], string>;

/** Sketches of durations of successful calls: for the caller, from the arrival of the call, and of the attempt. */
export const rollupSketches = [
  "call_ms_sketch",
  "call_first_token_ms_sketch",
  "attempt_ms_sketch",
  "attempt_first_token_ms_sketch",
] as const satisfies readonly LatencyColumn[];

export const rollupColumns = [...rollupScope, ...rollupSums, ...rollupSketches] as const;

/** A rollup as a row: a value for each of `rollupColumns`. */
export type RollupValues = readonly (string | number | null)[];

/** The rows that these records add to the rollups: one for each scope. `tagsOf`: the tags of a record in its rollup. */
export function rollupsOf(records: readonly LedgerRecord[], tagsOf: TagsOfRollup): readonly RollupValues[] {
  const all = new Map<string, Rollup>();
  // Most records of a key are for the same rollup: comparing them takes less time than writing their scope.
  const last = new Map<RecordHead, Member>();
  for (const record of records) {
    let member = last.get(record.head);
    if (member === undefined || !isLike(member, record)) {
      member = memberOf(record, tagsOf, all);
      last.set(record.head, member);
    }
    add(member.rollup, record);
  }
  return [...all.values()].map(rollupValues);
}

/** What decides, with its head, to which rollup a record belongs. User agent and tags are JSON. */
interface Member {
  readonly hour: number;
  readonly personId: string | null;
  readonly userAgent: string;
  readonly tags: string;
  readonly rollup: Rollup;
}

function isLike(member: Member, record: LedgerRecord): boolean {
  return (
    hourOf(record) === member.hour &&
    record.holds(inIntent.userAgent, member.userAgent) &&
    record.holds(inIntent.tags, member.tags) &&
    record.textOrNull(inIntent.personId) === member.personId
  );
}

function hourOf(record: LedgerRecord): number {
  const at = record.number(inIntent.at);
  return at - (at % hourMs);
}

function memberOf(record: LedgerRecord, tagsOf: TagsOfRollup, all: Map<string, Rollup>): Member {
  const hour = hourOf(record);
  const personId = record.textOrNull(inIntent.personId);
  // In the order of `rollupScope`. Only the model may contain line breaks, so the joined names are unambiguous.
  const scope = [
    hour,
    record.text(inIntent.workspaceId),
    record.text(inIntent.groupId),
    record.text(inIntent.keyId),
    personId ?? "",
    record.text(inIntent.model),
    record.text(inIntent.provider),
    userAgentFamily(record.text(inIntent.userAgent)),
    record.text(inIntent.endpoint),
    tagsOf(record),
  ];
  const name = scope.join("\n");
  const rollup = all.get(name) ?? { scope, sums: new Array(rollupSums.length).fill(0), ...noSketches };
  all.set(name, rollup);
  return { hour, personId, userAgent: record.value(inIntent.userAgent), tags: record.value(inIntent.tags), rollup };
}

export type TagsOfRollup = (record: LedgerRecord) => string;

interface Rollup extends Record<LatencyColumn, string> {
  /** In the order of `rollupScope`. */
  readonly scope: readonly (string | number)[];
  /** In the order of `rollupSums`. */
  readonly sums: number[];
}

const sumOf = Object.fromEntries(rollupSums.map((sum, index) => [sum, index])) as Record<
  (typeof rollupSums)[number],
  number
>;

function add(rollup: Rollup, record: LedgerRecord): void {
  const { sums } = rollup;
  const { calls } = record;
  move(sums, sumOf.attempts, calls);
  if (record.number(inIntent.retryIndex) === 0) move(sums, sumOf.requests, calls);
  if (record.is(inSettlement.outcome, "cancelled")) move(sums, sumOf.cancelled, calls);
  // The usage of another model is charged, but is neither a success nor a duration.
  if (calls > 0 && record.is(inSettlement.outcome, "succeeded")) {
    move(sums, sumOf.succeeded, calls);
    addTimes(rollup, record);
  }
  // Both have the order of `usageClasses`.
  const usage = record.numbers(inSettlement.usage);
  for (let n = 0; n < usage.length; n++) move(sums, sumOf.input_uncached + n, usage[n] as number);
  const cost = record.number(inSettlement.costNanoUsd);
  move(sums, sumOf.cost_nano_usd, cost);
  move(sums, sumOf.cache_saved_nano_usd, record.numberOrNull(inSettlement.cacheSavedNanoUsd) ?? 0);
  const vendorCost = record.numberOrNull(inSettlement.vendorCostNanoUsd);
  if (vendorCost === null) return;
  move(sums, sumOf.vendor_cost_nano_usd, vendorCost);
  const isVendorCost = record.is(inSettlement.costSource, "vendor");
  move(
    sums,
    sumOf.compared_cost_nano_usd,
    isVendorCost ? (record.numberOrNull(inSettlement.ownCostNanoUsd) ?? 0) : cost,
  );
}

function move(sums: number[], index: number, by: number): void {
  if (by !== 0) sums[index] = (sums[index] as number) + by;
}

/** In the order of `rollupColumns`. */
function rollupValues({ scope, sums, ...sketches }: Rollup): RollupValues {
  return [...scope, ...sums, ...rollupSketches.map((sketch) => tidySketch(sketches[sketch]))];
}

/** Rewrites long sketches, in which a span may be repeated. */
function tidySketch(sketch: string): string {
  return sketch.length < worthTidying ? sketch : foldedSketch(sketch);
}

const worthTidying = 32;

const noSketches: Readonly<Record<LatencyColumn, string>> = Object.fromEntries(
  rollupSketches.map((column) => [column, ""]),
) as Record<LatencyColumn, string>;

/** Records have whole microseconds. */
function addTimes(rollup: Record<LatencyColumn, string>, record: LedgerRecord): void {
  const startedAfter = record.number(inIntent.startedAfterMs);
  const total = record.number(inSettlement.totalMs);
  rollup.attempt_ms_sketch += sketchOf(total / 1_000);
  rollup.call_ms_sketch += sketchOf((startedAfter + total) / 1_000);
  const firstToken = record.numberOrNull(inSettlement.firstTokenMs);
  if (firstToken === null) return;
  rollup.attempt_first_token_ms_sketch += sketchOf(firstToken / 1_000);
  rollup.call_first_token_ms_sketch += sketchOf((startedAfter + firstToken) / 1_000);
}

/** The rollups without unfolded sums, as a table of a query. */
export function foldedRollups({ name }: Pick<Flavour, "name">): RawBuilder<unknown> {
  return name === "postgres" ? sql`only usage_rollups` : sql`usage_rollups`;
}

/** The value of a tag in a rollup or a counted entry as SQL, empty if it has none. The name contains no quote and no backslash. */
export function tagValueIn({ name }: Pick<Flavour, "name">, tag: string): RawBuilder<string> {
  const value = name === "sqlite" ? sql`tags ->> ${`$."${tag}"`}` : sql`(tags::jsonb ->> ${tag}::text) collate "C"`;
  return sql<string>`case when tags = '' then '' else coalesce(${value}, '') end`;
}

/** `hour` is the moment the entry began. */
type Counted = SelectQueryBuilder<Tables, "ledger", Row<"usage_rollups">>;

/**
 * One rollup per entry, as in `rollupsOf`, for sums in SQL. Instead of a sketch it has the duration in milliseconds, or null; with
 * `times: false` an empty sketch. `tags` is the JSON of the entry, without a bound.
 */
export function countedEntries(connection: Connection, { times = true }: { readonly times?: boolean } = {}): Counted {
  const counted = connection
    .selectFrom("ledger")
    .select((eb) => [
      "at as hour",
      ...entryScope.map((column) => eb.ref(column).as(column)),
      sql<string>`coalesce(person_id, '')`.as("person_id"),
      sql.raw<string>(familyOfEntry).as("user_agent"),
      ...rollupSums.map((sum) => sql.raw<number>(entrySums[sum]).as(sum)),
      ...rollupSketches.map((sketch) => sql.raw<string>(times ? timed(entryTimes[sketch]) : "''").as(sketch)),
    ]);
  // Kysely loses the names of mapped columns.
  return counted as unknown as Counted;
}

const entryScope = ["workspace_id", "group_id", "key_id", "model", "provider", "endpoint", "tags"] as const;

/** `userAgentFamily` as SQL. The limit keeps both databases from reading the user agent again for each family. */
const familyOfEntry = `(select case when agent = '' then '' ${userAgentFamilies
  .map(([prefix, family]) => `when substr(agent, 1, ${prefix.length}) = '${prefix}' then '${family}'`)
  .join(" ")} else '${otherUserAgents}' end from (select lower(user_agent) as agent limit 1) as client)`;

/** The duration of an entry in each sketch, as SQL. Equals `addTimes`. */
const entryTimes: Readonly<Record<LatencyColumn, string>> = {
  call_ms_sketch: "started_after_ms + total_ms",
  call_first_token_ms_sketch: "started_after_ms + first_token_ms",
  attempt_ms_sketch: "total_ms",
  attempt_first_token_ms_sketch: "first_token_ms",
};

function timed(ms: string): string {
  return `case when outcome = 'succeeded' and calls > 0 then ${ms} end`;
}
