import { until } from "../../test/until.ts";
import type { RunningSimulator, Script, TruthRecord } from "../src/index.ts";

/** Request options that carry a script. */
export function scripted(
  script: Script,
  more: Readonly<Record<string, string>> = {},
): { headers: Record<string, string> } {
  return { headers: { "x-sim-script": JSON.stringify(script), ...more } };
}

/** The client's promises hide their state from the runner's `rejects`. */
export function thrownBy(call: PromiseLike<unknown>): PromiseLike<unknown> {
  return call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
}

/** The truth of the last attempt, once its answer is over. */
export async function lastRecord(running: RunningSimulator): Promise<TruthRecord> {
  return await until(() => {
    const { in_flight: inFlight, data } = running.simulator.truth.list();
    return inFlight === 0 ? data.at(-1) : null;
  });
}

export function sha256(data: string | Uint8Array): string {
  return Bun.CryptoHasher.hash("sha256", data, "hex");
}
