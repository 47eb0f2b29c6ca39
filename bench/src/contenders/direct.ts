import type { Contender } from "../contender.ts";
import type { Run } from "../run.ts";

/** No proxy: the baseline of the load programs and the upstream. */
export function direct(run: Run): Contender<"direct"> {
  return { name: "direct", port: run.upstreamPort, key: "none", pid: null, log: null, stop: async () => undefined };
}
