// The program of each thread of the gateway as one file: read in a third of the time that its modules take.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bun, root } from "./install.mjs";

const source = join(root, "gateway", "src");

/** Makes the files in the run's own folder, under the names that their sources have in gateway/src. True when it went well. */
export async function bundleThreads(run) {
  const entries = readdirSync(source, { recursive: true })
    .filter((name) => name.endsWith("-worker.ts"))
    .map((name) => join(source, name));
  const args = ["build", ...entries, "--target=bun", "--minify-syntax", "--minify-whitespace"];
  return (
    (await run.execute(bun, [...args, `--root=${source}`, `--outdir=${run.environment.TEST_THREADS}`], {
      stdio: ["ignore", "ignore", "inherit"],
    })) === 0
  );
}
