import { setPriority } from "node:os";

/** The event loop comes first: on Linux a thread's niceness is its own, elsewhere it would be the whole process's. */
export function standBack(niceness: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, niceness);
  } catch {
    // Not allowed here: then it competes like the others.
  }
}
