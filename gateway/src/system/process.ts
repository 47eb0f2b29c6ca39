import { setPriority } from "node:os";

/**
 * Lets go of compiled code, and of what else is no longer used: what only a start needed, what a load left behind. What is
 * called again is compiled again. It takes a whole collection in one turn of the loop, so it is for when nobody calls.
 */
export async function letGo(): Promise<void> {
  Bun.shrink();
  // It is done once nothing of ours runs.
  await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The event loop comes first: on Linux a thread's niceness is its own, elsewhere it would be the whole process's. */
export function standBack(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, niceness);
  } catch {
    // Not allowed here: then it competes like the others.
  }
}

/**
 * Whether this runs from a build, as the executable and the npm package are: modules lie together in few files, beside them
 * the threads' programs, and in the folder `static` what browsers are given.
 */
export const isBuilt = !import.meta.url.endsWith("/process.ts");
