import { Database } from "bun:sqlite";

/**
 * A program of somebody else that begins to write into a database and does not go on: `bun lock-holder.ts <database>`.
 * It prints a line when it has the lock, and lets it go when its standard input ends.
 */
if (import.meta.main) {
  const database = new Database(process.argv[2] ?? "", { readwrite: true, create: false });
  database.run("pragma busy_timeout = 10000");
  database.run("begin immediate");
  console.log("locked");
  await Bun.stdin.text();
  database.run("rollback");
  database.close(true);
}
