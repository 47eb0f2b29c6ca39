import { Database } from "bun:sqlite";

/**
 * Fills the table of tasks with as many rows as after years of use, by copying a finished task: every tenth belongs to another workspace,
 * every hundredth has failed, every thousandth has a rare model.
 */
export function multiplyTasks(databaseFile: string, rows: number): void {
  const database = new Database(databaseFile);
  try {
    const columns = (database.query("select name from pragma_table_info('tasks')").all() as { name: string }[]).map(
      ({ name }) => name,
    );
    const values: Readonly<Record<string, string>> = {
      id: "printf('vt_%026d', i)",
      attempt_id: "printf('att_%026d', i)",
      workspace_id: "case when i % 10 = 0 then 'ws_other' else workspace_id end",
      model: "case when i % 1000 = 1 then 'bench-rare' else model end",
      state: "case when i % 100 = 1 then 'failed' else state end",
      created_at: "created_at - 60000 - i * 1000",
      upstream_id: "'cgt-' || i",
      idempotency_key: "null",
      // The sealed value is only valid in its own row.
      sealed_account: "null",
    };
    const chosen = columns.map((name) => values[name] ?? `"${name}"`).join(", ");
    database.run(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       insert into tasks (${columns.map((name) => `"${name}"`).join(", ")})
       select ${chosen} from n, (select * from tasks where final = 1 order by id limit 1)`,
      [rows],
    );
    database.run("pragma wal_checkpoint(truncate)");
  } finally {
    database.close();
  }
}
