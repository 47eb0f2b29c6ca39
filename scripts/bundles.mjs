// Builds what the tests start again and again: a gateway loads 1,700 modules when it starts, and each of its threads 450.
import { join } from "node:path";
import { bun, root } from "./install.mjs";

/** A password hash takes a tenth of a second of processor time, and tests sign in hundreds of times. */
const cheapPasswords = ["--define", "passwordKbOfTests=64"];

/**
 * Builds the gateway's executable, the simulator and the worker threads into the folder of the test run; bundles keep the names of
 * their sources. A gateway started from them takes a third of the processor time. Resolves to true on success.
 */
export async function makeBundles(run) {
  const folder = run.environment.TEST_BUNDLES;
  const quiet = { stdio: ["ignore", "ignore", "inherit"] };
  const statuses = await Promise.all([
    run.execute(bun, ["--no-env-file", join(root, "scripts", "make-bundles.mjs"), "test-programs", folder], quiet),
    run.execute(
      process.execPath,
      [join(root, "scripts", "build-binary.mjs"), "--out", folder, ...cheapPasswords],
      quiet,
    ),
  ]);
  return statuses.every((status) => status === 0);
}
