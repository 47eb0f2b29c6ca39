import { mock } from "bun:test";
import { fileURLToPath } from "node:url";
import * as threads from "node:worker_threads";
import { bundleOf } from "./programs.ts";

/**
 * Preloaded by `npm test`, which bundles each worker thread's program into one file (scripts/bundles.mjs): every gateway that a
 * test opens starts threads, and each would load about 450 modules. Without the bundles, as when a test is run alone, threads
 * start from source. Password hashes are made cheap as well (storage/vault/password.ts).
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
