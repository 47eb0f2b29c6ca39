// `npm run prove`: installs, and proves that several processes keep what is promised; `npm run prove -- --help` lists its options.
import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { ensurePostgres } from "./postgres.mjs";
import { ensureRedis } from "./test-programs.mjs";
import { openTestRun } from "./test-run.mjs";

/** A round takes some ten minutes, and several times as long on a busy machine. */
const hangMinutes = 90;

install();
ensurePostgres();
ensureRedis();
const run = openTestRun({ ...process.env, ...bunEnvironment });
// PostgreSQL runs as a user of its own where we are root, and has its files in there.
chmodSync(dirname(run.environment.TMPDIR), 0o711);
const words = ["--no-env-file", join(root, "test", "prove", "prove.ts"), ...process.argv.slice(2)];
// The program ends by itself when its time is over; one that hangs is ended long after that.
const minutes = Number(parseArgs({ options: { minutes: { type: "string" } }, strict: false }).values.minutes ?? 0);
const msMax = ((Number.isFinite(minutes) ? minutes : 0) + hangMinutes) * 60_000;
const status = await run.execute(bun, words, { stdio: ["ignore", "inherit", "inherit"], msMax });
const left = await run.close();
for (const one of left) console.log(`left behind: ${one}`);
process.exit(status === 0 && left.length === 0 ? 0 : 1);
