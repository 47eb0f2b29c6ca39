// What the tests start over and over, in few files: a gateway reads 1,600 modules at its start, each of its threads 450.
import { join } from "node:path";
import { bun, root } from "./install.mjs";

/**
 * Puts the programs and the threads' programs into the run's own folder, under the names that their sources have. A program
 * that starts from there takes half the processor time of one that starts from its source. True when it went well.
 */
export async function makeBundles(run) {
  const args = ["--no-env-file", join(root, "scripts", "make-bundles.mjs"), run.environment.TEST_BUNDLES];
  return (await run.execute(bun, args, { stdio: ["ignore", "ignore", "inherit"] })) === 0;
}
