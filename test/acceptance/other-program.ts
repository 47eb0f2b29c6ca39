import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";

/**
 * A third-party program that reads a database in use: `bun other-program.ts <database> <copy> <rounds>`. Each round opens it
 * like SQLite's own shell, reads it, makes a complete copy and closes it.
 */
if (import.meta.main) {
  const [database = "", copy = "", rounds = "1"] = process.argv.slice(2);
  for (let round = 0; round < Number(rounds); round++) {
    const opened = new Database(database, { readwrite: true, create: false });
    opened.run("pragma busy_timeout = 10000");
    opened.query("select count(*) from ledger_entries").get();
    rmSync(copy, { force: true });
    opened.run("vacuum into ?", [copy]);
    opened.close(true);
  }
}
