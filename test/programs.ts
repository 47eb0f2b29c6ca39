import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "..");

/**
 * The programs that tests start, which `npm test` has built first (scripts/bundles.mjs): the gateway as one executable, which
 * is there in a third of the processor time that its source takes, and the simulator in one file. Where a test is run by itself
 * they start from the source, as they do at their users'. How the gateway starts at its users' is tested from the source in
 * either case: first-start, install, loaded-at-start, cli and signals.
 */
export const programs = {
  cli: executable() ?? join(root, "gateway/src/cli/cli.ts"),
  simulator: programOf("simulator/src/main.ts"),
} as const;

/** How a program is started: a file of code by the runtime that runs the tests, anything else by itself. */
export function commandOf(program: string): readonly string[] {
  return isCode(program) ? [process.execPath, "--no-env-file", program] : [program];
}

/** The same as a shell reads it. */
export function shellCommandOf(program: string): string {
  return commandOf(program)
    .map((word) => `"${word}"`)
    .join(" ");
}

export function isCode(program: string): boolean {
  return /\.[jt]s$/.test(program);
}

/** The executable as `npm run build:binary` makes it; null where a test is run by itself. */
export function executable(): string | null {
  const folder = process.env["TEST_BUNDLES"];
  const file = join(folder ?? "", `sluice-${process.platform}-${process.arch}`);
  return folder !== undefined && existsSync(file) ? file : null;
}

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
