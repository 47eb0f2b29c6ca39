import { Database } from "bun:sqlite";

/**
 * A third-party program that starts a write transaction and leaves it open: `bun lock-holder.ts <database>`. It prints a line once
 * it has the lock, and releases the lock when its standard input closes.
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
