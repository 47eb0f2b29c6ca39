import { until } from "../../test/until.ts";
import type { RunningSimulator, Script, TruthRecord } from "../src/index.ts";

/** Request options with a script. */
export function scripted(
  script: Script,
  headers: Readonly<Record<string, string>> = {},
): { headers: Record<string, string> } {
  return { headers: { "x-sim-script": JSON.stringify(script), ...headers } };
}

/** Returns the error of a call. The test runner's `rejects` does not recognize the client's promises. */
export function thrownBy(call: PromiseLike<unknown>): PromiseLike<unknown> {
  return call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
}

/** The truth record of the last attempt, once all answers are complete. */
export async function lastRecord(running: RunningSimulator): Promise<TruthRecord> {
  return await until(() => {
    const { in_flight: inFlight, data } = running.simulator.truth.list();
    return inFlight === 0 ? data.at(-1) : null;
  });
}

export function sha256(data: string | Uint8Array): string {
  return Bun.CryptoHasher.hash("sha256", data, "hex");
}
