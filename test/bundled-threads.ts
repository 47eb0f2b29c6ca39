import { mock } from "bun:test";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as threads from "node:worker_threads";

/**
 * Loaded before the tests where `npm test` has put each thread's program into one file (scripts/thread-bundles.mjs): every
 * gateway that a test opens starts threads, and each would read some 450 modules anew. Without those files, as when a test
 * is run by itself, threads begin from the source.
 */
const folder = process.env["TEST_THREADS"];
if (folder !== undefined) {
  mock.module("node:worker_threads", () => ({ ...threads, Worker: bundledIn(folder) }));
}

const source = join(import.meta.dir, "..", "gateway", "src");

function bundledIn(folder: string): typeof threads.Worker {
  return class extends threads.Worker {
    constructor(entry: string | URL, options?: threads.WorkerOptions) {
      super(bundleOf(folder, entry) ?? entry, options);
    }
  };
}

/** null: a thread of a test's own. */
function bundleOf(folder: string, entry: string | URL): string | null {
  const path = relative(source, entry instanceof URL ? fileURLToPath(entry) : entry);
  return path.startsWith("..") ? null : join(folder, path.replace(/\.ts$/, ".js"));
}
