import { isMainThread } from "node:worker_threads";

/** Processor time of `fixedWork` on the idle machine on which the limit was set. */
const fixedWorkMs = 20;
/** The work of several turns within this time counts as one turn. A shorter time costs more than it finds. */
const restMs = 4;
const bytes = new Uint8Array(1024 * 1024).map((_, index) => index * 31);

/** Reads bytes, like the code under test. */
function fixedWork(): number {
  let hash = 0;
  for (let round = 0; round < 16; round++) {
    for (let at = 0; at < bytes.length; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  }
  return hash;
}

/** How many times longer the same work takes now: the processor may be slower or shared with other programs. */
function slowness(): number {
  const before = process.threadCpuUsage();
  fixedWork();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, (user + system) / 1_000 / fixedWorkMs);
}

/**
 * Preloaded into a gateway: reports the most processor time that its event loop spent in one turn since the last request.
 * Processor time, because on a busy machine elapsed time measures the other work.
 */
const port = Number(process.env["LOOP_WATCH_PORT"]);
if (isMainThread && port > 0 && process.argv.includes("serve")) {
  // Compile it before it is measured.
  fixedWork();
  let longestMicros = 0;
  let last = process.threadCpuUsage();
  const turn = (): number => {
    const spent = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    return spent.user + spent.system;
  };
  setInterval(() => {
    longestMicros = Math.max(longestMicros, turn());
  }, restMs).unref();
  Bun.serve({
    idleTimeout: 0,
    hostname: "127.0.0.1",
    port,
    fetch({ url }) {
      const reading = {
        longest_ms: longestMicros / 1_000,
        resident_bytes: process.memoryUsage.rss(),
        slowness: url.endsWith("/slowness") ? slowness() : 1,
      };
      longestMicros = 0;
      turn();
      return Response.json(reading);
    },
  }).unref();
}
