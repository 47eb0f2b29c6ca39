import { mock } from "bun:test";
import * as fastCheck from "fast-check";

/**
 * Runs every property of some tests many times, each with a seed of chance's own: a failure prints the seed and the path that
 * bring it back, to be written into its `fc.assert` as `{ seed, path }`.
 *
 *     SLUICE_PROPERTY_RUNS=20000 node_modules/.bin/bun --no-env-file test --preload ./gateway/test/more-runs.ts \
 *       --timeout 4000000 ./gateway/src/protocols/ ./gateway/test/conformance/codecs.test.ts
 */
const numRuns = Number(process.env["SLUICE_PROPERTY_RUNS"] ?? 20_000);
/** No property is given longer, however slow it is. */
const interruptAfterTimeLimit = Number(process.env["SLUICE_PROPERTY_MS"] ?? 60_000);

// Names of the module lead to what takes its place, once that is done.
const everything = { ...fastCheck };
const plain = { ...fastCheck.default };

function assert<Ts>(property: fastCheck.IProperty<Ts>, parameters: fastCheck.Parameters<Ts> = {}): void {
  const { seed: _seed, path: _path, ...rest } = parameters;
  everything.assert(property, { ...rest, numRuns, interruptAfterTimeLimit, markInterruptAsFailure: false });
}

mock.module("fast-check", () => ({ ...everything, assert, default: { ...plain, assert } }));
