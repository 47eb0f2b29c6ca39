// What the tests start over and over, built: a gateway reads 1,700 modules at its start, each of its threads 450.
import { join } from "node:path";
import { bun, root } from "./install.mjs";

/** A hash of a password takes a tenth of a second of the processor, and tests sign in hundreds of times. */
const cheapPasswords = ["--define", "passwordKbOfTests=64"];

/**
 * Puts the gateway's executable, the simulator and the threads' programs into the run's own folder, these under the names that
 * their sources have. A gateway that starts from there takes a third of the processor time of one that starts from its source.
 * True when it went well.
 */
export async function makeBundles(run) {
  const folder = run.environment.TEST_BUNDLES;
  const quiet = { stdio: ["ignore", "ignore", "inherit"] };
  const made = await Promise.all([
    run.execute(bun, ["--no-env-file", join(root, "scripts", "make-bundles.mjs"), folder], quiet),
    run.execute(
      process.execPath,
      [join(root, "scripts", "build-binary.mjs"), "--out", folder, ...cheapPasswords],
      quiet,
    ),
  ]);
  return made.every((status) => status === 0);
}
