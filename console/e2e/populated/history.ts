import { Database } from "bun:sqlite";
import { join } from "node:path";

const hourMs = 3_600_000;

/**
 * Adds two weeks of usage, or as many days as given, before today: copies of this hour's totals, more by day than by night. It writes to the
 * database, because the API cannot create past usage.
 */
export function addHistory(dataDir: string, days = 14): void {
  const database = new Database(join(dataDir, "sluice.db"));
  database.run("pragma busy_timeout = 5000");
  const columns = database
    .query<{ name: string }, []>("select name from pragma_table_info('usage_rollups')")
    .all()
    .map(({ name }) => name);
  const keys = new Set([
    ...["hour", "workspace_id", "group_id", "key_id", "person_id", "model", "provider"],
    ...["user_agent", "endpoint", "tags"],
  ]);
  const [{ hour } = { hour: 0 }] = database
    .query<{ hour: number }, []>("select max(hour) as hour from usage_rollups")
    .all();
  const list = columns.map((name) => `"${name}"`).join(", ");
  // Sketches are not scaled, so percentiles stay the same.
  const asBefore = (name: string) => keys.has(name) || name.endsWith("_sketch");
  const values = columns
    .map((name) => (name === "hour" ? "?1" : asBefore(name) ? `"${name}"` : `"${name}" * ?2`))
    .join(", ");
  const copy = database.query(
    `insert or ignore into usage_rollups (${list}) select ${values} from usage_rollups where hour = ?3 and provider <> ''`,
  );
  database.transaction(() => {
    for (let back = 1; back <= days * 24; back++) {
      const at = hour - back * hourMs;
      const day = new Date(at).getUTCDay();
      const byHour = Math.max(0, Math.sin(((new Date(at).getUTCHours() - 5) / 24) * 2 * Math.PI));
      const times = Math.round((1 + 9 * byHour + ((back * 7) % 5)) * (day === 0 || day === 6 ? 0.3 : 1));
      if (times > 0) copy.run(at, times, hour);
    }
  })();
  database.close();
}
