import { createServer } from "node:net";

/**
 * Below the ports that systems hand out by themselves: none of these becomes somebody's in the moment between a gateway's
 * end and its next start.
 */
const portMin = 15_000;
const portMax = 31_999;

/** A port that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = portMin + Math.floor(Math.random() * (portMax - portMin + 1));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once("error", () => resolve(false));
  probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  return promise;
}
