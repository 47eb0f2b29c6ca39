import { mock } from "bun:test";
import { fileURLToPath } from "node:url";
import * as threads from "node:worker_threads";
import { bundleOf } from "./programs.ts";

/**
 * Loaded before the tests where `npm test` has put each thread's program into one file (scripts/bundles.mjs): every
 * gateway that a test opens starts threads, and each would read some 450 modules anew. Without those files, as when a test
 * is run by itself, threads begin from the source. And a hash of a password costs next to nothing (storage/vault/password.ts).
 */
class BundledWorker extends threads.Worker {
  constructor(entry: string | URL, options?: threads.WorkerOptions) {
    super(bundleOf(entry instanceof URL ? fileURLToPath(entry) : entry) ?? entry, options);
  }
}

if (process.env["TEST_BUNDLES"] !== undefined) {
  Object.assign(globalThis, { passwordKbOfTests: 64 });
  mock.module("node:worker_threads", () => ({ ...threads, Worker: BundledWorker }));
}
