import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";

/**
 * A program of somebody else that looks into a database in use: `bun other-program.ts <database> <copy> <rounds>`. Each
 * round opens it as SQLite's own shell does, reads it, makes a whole copy, and closes it again.
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
