import type { Contender } from "../contender.ts";
import type { Run } from "../run.ts";

/** Nothing in between: what the load programs and the upstream can do by themselves. */
export function direct(run: Run): Contender<"direct"> {
  return { name: "direct", port: run.upstreamPort, key: "none", pid: null, log: null, stop: async () => undefined };
}
