import { mock } from "bun:test";
import * as fastCheck from "fast-check";

/**
 * Runs the property tests of some files many times with random seeds. A failure prints the seed and path that
 * reproduce it; pass them to its `fc.assert` as `{ seed, path }`.
 *
 *     SLUICE_PROPERTY_RUNS=20000 node_modules/.bin/bun --no-env-file test --preload ./gateway/test/more-runs.ts \
 *       --timeout 4000000 ./gateway/src/protocols/ ./gateway/test/conformance/codecs.test.ts
 */
const numRuns = Number(process.env["SLUICE_PROPERTY_RUNS"] ?? 20_000);
/** The time limit of each property. */
const interruptAfterTimeLimit = Number(process.env["SLUICE_PROPERTY_MS"] ?? 60_000);

// Replaces the module's functions in place, after they were captured.
const everything = { ...fastCheck };
const plain = { ...fastCheck.default };

function assert<Ts>(property: fastCheck.IProperty<Ts>, parameters: fastCheck.Parameters<Ts> = {}): void {
  const { seed: _seed, path: _path, ...rest } = parameters;
  everything.assert(property, { ...rest, numRuns, interruptAfterTimeLimit, markInterruptAsFailure: false });
}

mock.module("fast-check", () => ({ ...everything, assert, default: { ...plain, assert } }));
