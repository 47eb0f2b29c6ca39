import { createServer } from "node:net";

/** A port that nobody listened on a moment ago. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once("error", reject);
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address();
    probe.close(() => {
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(new Error("no address"));
    });
  });
  return promise;
}
