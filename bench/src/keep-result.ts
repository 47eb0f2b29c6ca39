import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchDirectory } from "./run.ts";

/** Writes a result as JSON to bench/results (ignored by git) and prints its path. */
export async function keepResult(...result: Parameters<typeof writeResult>): Promise<void> {
  console.log(`written to ${await writeResult(...result)}`);
}

/** Writes the result without printing. Resolves to the file; replaces one with the same name and time. */
export async function writeResult(
  name: string,
  startedAt: Date,
  result: Readonly<Record<string, unknown>>,
): Promise<string> {
  const directory = join(benchDirectory, "results");
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${startedAt.toISOString().replaceAll(":", "-").slice(0, 19)}-${name}.json`);
  await Bun.write(file, `${JSON.stringify({ startedAt, ...result }, null, 2)}\n`);
  return file;
}
