import { join } from "node:path";
import { systemClock } from "#system/index.ts";
import { Supervisor, workerSpawner } from "#workers/index.ts";
import { foldReports } from "../../src/main/worker-numbers.ts";

/** A supervisor of small workers, as a process: `supervising.ts <count>`. */
const write = (lines: string): void => void process.stderr.write(lines);
const supervisor = new Supervisor({
  count: Number(process.argv[2]),
  start: workerSpawner({
    words: [process.execPath, "--no-env-file", join(import.meta.dir, "small-worker.ts")],
    env: process.env,
    write,
  }),
  fold: foldReports,
  clock: systemClock,
  log: (level, message, fields) => write(`${JSON.stringify({ level, message, ...fields })}\n`),
  print: (text) => void process.stdout.write(text),
});
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => supervisor.stop(signal));
process.on("SIGHUP", () => supervisor.reload());
process.on("SIGUSR2", () => supervisor.roll());
process.exit(await supervisor.run());
