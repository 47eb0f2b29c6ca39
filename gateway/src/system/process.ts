import { setPriority } from "node:os";

/** Releases unused memory, including compiled code. It blocks the event loop for a full collection, so call it when idle. */
export async function releaseMemory(): Promise<void> {
  Bun.shrink();
  // The runtime does it when no JavaScript is running.
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * Collects the garbage of the start, and with it makes the runtime's next full collection come later than in the first calls. Only in
 * builds: tests start many gateways in one process.
 */
export function collectAfterStart(): void {
  if (isBuilt) Bun.gc(true);
}

/** Lowers the priority of this thread. Only on Linux is it per thread. */
export function lowerPriority(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, niceness);
  } catch {
    // Not permitted.
  }
}

/** Whether this is a build (executable or npm package), which has static files and thread programs next to it. */
export const isBuilt = !import.meta.url.endsWith("/process.ts");
