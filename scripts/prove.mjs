// `npm run prove`: installs, then checks the guarantees of several gateways under faults; `npm run prove -- --help` lists options.
import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { bun, bunEnvironment, install, root } from "./install.mjs";
import { ensurePostgres } from "./postgres.mjs";
import { ensureRedis } from "./test-programs.mjs";
import { openTestRun } from "./test-run.mjs";

/** A round takes about ten minutes, and several times as long on a busy machine. */
const hangMinutes = 90;

install();
ensurePostgres();
ensureRedis();
const run = openTestRun({ ...process.env, ...bunEnvironment });
// As root, PostgreSQL runs as another user and stores its files below this folder.
chmodSync(dirname(run.environment.TMPDIR), 0o711);
const words = ["--no-env-file", join(root, "test", "prove", "prove.ts"), ...process.argv.slice(2)];
// The program ends when its time is up; this limit only ends one that hangs.
const minutes = Number(parseArgs({ options: { minutes: { type: "string" } }, strict: false }).values.minutes ?? 0);
const msMax = ((Number.isFinite(minutes) ? minutes : 0) + hangMinutes) * 60_000;
const status = await run.execute(bun, words, { stdio: ["ignore", "inherit", "inherit"], msMax });
const leftovers = await run.close();
for (const leftover of leftovers) console.log(`left over: ${leftover}`);
process.exit(status === 0 && leftovers.length === 0 ? 0 : 1);
