import { type Kysely, sql } from "kysely";
import type { Flavour } from "../database.ts";
import type { SchemaStep } from "../schema-step.ts";

/**
 * What the console reads quickly. Rollups count how long attempts took, those of before included. The indexes that lists
 * go by hold everything that lists are searched by, so that looking for a rare entry among a million reads no rows.
 */
export function migration006(flavour: Flavour): SchemaStep {
  return {
    contractsFrom: "006",
    async up(db: Kysely<unknown>): Promise<void> {
      await remakeRollups(db, flavour);
      await remakeIndex(db, "ledger_entries_workspace", ["workspace_id", ...place, "group_id", ...searched]);
      await remakeIndex(db, "ledger_entries_at", [...place, ...searched]);
      const index = db.schema.createIndex("api_keys_by_name").on("api_keys");
      await index.columns(["name", "id", "workspace_id", ...searchedOfKeys]).execute();
      const inWorkspace = db.schema.createIndex("api_keys_in_workspace").on("api_keys");
      await inWorkspace.columns(["workspace_id", "name", "id", ...searchedOfKeys]).execute();
    },
  };
}

const place = ["at", "attempt_id"];
const searched = ["model", "provider", "endpoint", "outcome", "http_status", "error_code", "total_ms"];
const searchedOfKeys = ["prefix", "last_four", "group_id", "enabled", "revoked_at", "expires_at"];

const scope = ["hour", "workspace_id", "group_id", "key_id", "model", "provider"];
const sums = [
  "attempts",
  "requests",
  "succeeded",
  "input_uncached",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "output",
  "reasoning",
  "audio_input",
  "audio_output",
  "image_input",
  "image_output",
  "images",
  "video_seconds",
  "cost_nano_usd",
];

const ends = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800];

/** The new columns with what an entry must be to be counted in them. */
const spans = ["total_ms", "first_token_ms"].flatMap((duration) =>
  [...ends, null].map((end, index) => {
    const over = index === 0 ? "" : ` and ${duration} > ${ends[index - 1]}`;
    const upTo = end === null ? "" : ` and ${duration} <= ${end}`;
    return { column: `${duration}_${end ?? "rest"}`, counts: `${duration} is not null${over}${upTo}` };
  }),
);

/** SQLite keeps the table in the order of its key from now on: it is only ever read and written by it. */
async function remakeRollups(db: Kysely<unknown>, flavour: Flavour): Promise<void> {
  let table = db.schema.createTable("usage_rollups_new").addColumn("hour", "bigint", (c) => c.notNull());
  for (const word of scope.slice(1)) table = table.addColumn(word, "text", (c) => c.notNull());
  for (const count of [...sums, ...spans.map(({ column }) => column)]) {
    table = table.addColumn(count, "bigint", (c) => c.notNull());
  }
  // In PostgreSQL a key is an index too, and migration 012 gives this name to another one.
  const key = flavour.name === "sqlite" ? "usage_rollups_key" : "usage_rollups_primary";
  table = table.addPrimaryKeyConstraint(key, scope as never);
  await (flavour.name === "sqlite" ? table.modifyEnd(sql`without rowid`) : table).execute();
  const known = [...scope, ...sums].join(", ");
  const empty = spans.map(({ column }) => `0 as ${column}`).join(", ");
  const inOrder = `order by ${scope.join(", ")}`;
  await sql.raw(`insert into usage_rollups_new select ${known}, ${empty} from usage_rollups ${inOrder}`).execute(db);
  const counts = spans.map(({ column, counts }) => `sum(case when ${counts} then 1 else 0 end) as ${column}`);
  const same = scope.map((name) => `usage_rollups_new.${name} = counted.${name}`);
  const text = `
    update usage_rollups_new set ${spans.map(({ column }) => `${column} = counted.${column}`).join(", ")}
    from (
      select "at" - "at" % 3600000 as hour, ${scope.slice(1).join(", ")}, ${counts.join(", ")}
      from ledger_entries where outcome = 'succeeded'
      group by 1, 2, 3, 4, 5, 6
    ) as counted
    where ${same.join(" and ")}`;
  await sql.raw(text).execute(db);
  await db.schema.dropTable("usage_rollups").execute();
  await db.schema.alterTable("usage_rollups_new").renameTo("usage_rollups").execute();
}

async function remakeIndex(db: Kysely<unknown>, name: string, columns: readonly string[]): Promise<void> {
  await db.schema.dropIndex(name).execute();
  const index = db.schema.createIndex(name).on("ledger_entries");
  await index.columns([...columns]).execute();
}
