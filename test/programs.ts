import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "..");

/**
 * The programs that tests start. `npm test` has put each into a few files first (scripts/bundles.mjs), which are read in half
 * the processor time; where a test is run by itself they start from the source, as they do at their users'. How a program
 * starts at its users' is tested from the source in either case: first-start, install, loaded-at-start, cli and signals.
 */
export const programs = {
  cli: programOf("gateway/src/cli/cli.ts"),
  simulator: programOf("simulator/src/main.ts"),
} as const;

function programOf(path: string): string {
  const source = join(root, path);
  return bundleOf(source) ?? source;
}

/** null: there is none of this file, as of a thread of a test's own. */
export function bundleOf(source: string): string | null {
  const folder = process.env["TEST_BUNDLES"];
  if (folder === undefined) return null;
  const file = join(folder, relative(root, source).replace(/\.ts$/, ".js"));
  return existsSync(file) ? file : null;
}
