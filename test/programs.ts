import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dir, "..");

/**
 * The programs that tests start. `npm test` builds them first (scripts/bundles.mjs): the gateway as an executable, which starts
 * in a third of the processor time, and the simulator as one file. When a test is run alone, they start from source, as for
 * users. Tests of how the gateway starts for users always use the source: first-start, install, loaded-at-start, cli and signals.
 */
export const programs = {
  cli: executable() ?? join(root, "gateway/src/cli/cli.ts"),
  simulator: bundleOrSource("simulator/src/main.ts"),
} as const;

/** The command that starts a program: source files need the runtime, executables do not. */
export function commandOf(program: string): readonly string[] {
  return isCode(program) ? [process.execPath, "--no-env-file", program] : [program];
}

/** The same command, quoted for a shell. */
export function shellCommandOf(program: string): string {
  return commandOf(program)
    .map((word) => `"${word}"`)
    .join(" ");
}

export function isCode(program: string): boolean {
  return /\.[jt]s$/.test(program);
}

/** The executable that `npm run build:binary` makes; null when a test is run alone. */
export function executable(): string | null {
  const folder = process.env["TEST_BUNDLES"];
  const file = join(folder ?? "", `sluice-${process.platform}-${process.arch}`);
  return folder !== undefined && existsSync(file) ? file : null;
}

function bundleOrSource(path: string): string {
  const source = join(root, path);
  return bundleOf(source) ?? source;
}

/** The bundle of a source file; null if there is none, as for a thread that only a test uses. */
export function bundleOf(source: string): string | null {
  const folder = process.env["TEST_BUNDLES"];
  if (folder === undefined) return null;
  const file = join(folder, relative(root, source).replace(/\.ts$/, ".js"));
  return existsSync(file) ? file : null;
}
