import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchDirectory } from "./run.ts";

/** Leaves a result as JSON in bench/results, which git does not keep. */
export async function keepResult(
  name: string,
  startedAt: Date,
  result: Readonly<Record<string, unknown>>,
): Promise<void> {
  const directory = join(benchDirectory, "results");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${startedAt.toISOString().replaceAll(":", "-").slice(0, 19)}-${name}.json`);
  await Bun.write(file, `${JSON.stringify({ startedAt, ...result }, null, 2)}\n`);
  console.log(`kept in ${file}`);
}
