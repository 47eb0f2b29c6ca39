import { type Expression, type SqlBool, sql } from "kysely";
import { type PolicyCounter, personOfScope, personScopeId, type ScopeKind } from "#core/index.ts";
import type { SpendingQuery, SpentAmount } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import { policyFilter } from "./policy-filter.ts";

/** Beginnings of periods that are read for all scopes at once. */
const groupsMax = 16;
/** In an answer without buckets, everything is in one. */
const noBuckets = Number.MAX_SAFE_INTEGER;

/** Money by the start of its bucket. */
type Spent = Map<number, number>;
/** By the id of the scope. */
type SpentByScope = Map<string, Spent>;

interface Reading {
  readonly kind: ScopeKind;
  /** null: all scopes of the kind. */
  readonly id: string | null;
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /** Of a budget policy. */
  readonly counter?: PolicyCounter | undefined;
}

/**
 * Spending of scopes before a whole hour, `untilMs`. Calendar periods are read for all scopes of a kind at once, because a rehearsal
 * meets most of them. Others are read one by one.
 */
export class SpentUntil {
  readonly #database: Database;
  readonly #untilMs: number;
  readonly #groups = new Map<string, Promise<SpentByScope>>();

  constructor(database: Database, untilMs: number) {
    this.#database = database;
    this.#untilMs = untilMs;
  }

  async read(queries: readonly SpendingQuery[]): Promise<readonly SpentAmount[]> {
    const spent: SpentAmount[] = [];
    for (const query of queries) spent.push(await this.#readQuery(query));
    return spent;
  }

  async #readQuery({ kind, id, from, to: end, bucketMs, counter }: SpendingQuery): Promise<SpentAmount> {
    const to = Math.min(end ?? this.#untilMs, this.#untilMs);
    const buckets =
      from >= to ? noSpending : await this.#spent({ kind, id, from, to, bucketMs: bucketMs ?? noBuckets, counter });
    const amount = [...buckets.values()].reduce((sum, part) => sum + part, 0);
    return { amount, later: 0, ...(bucketMs === undefined ? {} : { buckets: [...buckets] }) };
  }

  async #spent(reading: Reading): Promise<Spent> {
    const { kind, id, from, to, bucketMs, counter } = reading;
    if (counter !== undefined) return (await this.#sums(reading)).get("") ?? noSpending;
    const name = `${kind} ${from}`;
    if (bucketMs !== noBuckets || to !== this.#untilMs || (this.#groups.size >= groupsMax && !this.#groups.has(name))) {
      return (await this.#sums(reading)).get(id ?? "") ?? noSpending;
    }
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = this.#sums({ ...reading, id: null });
      this.#groups.set(name, group);
    }
    return (await group).get(id ?? "") ?? noSpending;
  }

  /** Parts of hours are in entries only. */
  async #sums(reading: Reading): Promise<SpentByScope> {
    const { from, to, bucketMs } = reading;
    const [first, last] = [Math.ceil(from / hourMs) * hourMs, Math.floor(to / hourMs) * hourMs];
    const found: SpentByScope = new Map();
    if (bucketMs < hourMs || first >= last) await this.#add(found, "ledger", reading);
    else {
      await this.#add(found, "ledger", { ...reading, to: first });
      await this.#add(found, "usage_rollups", { ...reading, from: first, to: last });
      await this.#add(found, "ledger", { ...reading, from: last });
    }
    return found;
  }

  async #add(
    found: SpentByScope,
    table: "ledger" | "usage_rollups",
    { kind, id, from, to, bucketMs, counter }: Reading,
  ) {
    if (from >= to) return;
    const time = sql.ref(table === "ledger" ? "at" : "hour");
    const { flavour, reading } = this.#database;
    const column = counter === undefined ? sql.ref(`${kind}_id`) : sql<string>`''`;
    const filter: Expression<SqlBool>[] = [sql<SqlBool>`${time} >= ${from}`, sql<SqlBool>`${time} < ${to}`];
    if (counter !== undefined) filter.push(...policyFilter(flavour, counter));
    else if (id !== null && kind === "person") {
      const [workspaceId, personId] = personOfScope(id);
      filter.push(sql<SqlBool>`workspace_id = ${workspaceId} and person_id = ${personId}`);
    } else if (id !== null) filter.push(sql<SqlBool>`${column} = ${id}`);
    const bucket = bucketMs === noBuckets ? sql<number>`0` : sql<number>`${time} - ${time} % ${sql.lit(bucketMs)}`;
    const { rows } = await sql<{ workspace: string; id: string | null; bucket: number; amount: number }>`
      select workspace_id as workspace, ${column} as id, ${bucket} as bucket, sum(cost_nano_usd) as amount
      from ${sql.table(table)} where ${sql.join(filter, sql` and `)} group by 1, 2, 3`.execute(reading);
    for (const row of rows) {
      const scopeId = kind === "person" ? personScopeId(row.workspace, row.id ?? "") : (row.id ?? "");
      const spent = found.get(scopeId) ?? new Map<number, number>();
      spent.set(Number(row.bucket), (spent.get(Number(row.bucket)) ?? 0) + Number(row.amount));
      found.set(scopeId, spent);
    }
  }
}

const noSpending: Spent = new Map();
