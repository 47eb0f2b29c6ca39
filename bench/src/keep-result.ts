import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { benchDirectory } from "./run.ts";

/** Leaves a result as JSON in bench/results, which git does not keep, and says where. */
export async function keepResult(...result: Parameters<typeof writeResult>): Promise<void> {
  console.log(`kept in ${await writeResult(...result)}`);
}

/** The same, without saying so; resolves to its file. What was kept under the same name and time is replaced. */
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
