import { isMainThread } from "node:worker_threads";

/**
 * Loaded into a gateway ahead of itself: tells how much processor time its event loop spent between two of its turns at
 * most, since it was last asked. Processor time, because on a busy machine the clock tells of the machine.
 */
const port = Number(process.env["LOOP_WATCH_PORT"]);
if (isMainThread && port > 0 && process.argv.includes("serve")) {
  let longestMicros = 0;
  let last = process.threadCpuUsage();
  const turn = (): number => {
    const spent = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    return spent.user + spent.system;
  };
  setInterval(() => {
    longestMicros = Math.max(longestMicros, turn());
  }, 1).unref();
  Bun.serve({
    idleTimeout: 0,
    hostname: "127.0.0.1",
    port,
    fetch() {
      const told = { longest_ms: longestMicros / 1_000, resident_bytes: process.memoryUsage.rss() };
      longestMicros = 0;
      turn();
      return Response.json(told);
    },
  }).unref();
}
