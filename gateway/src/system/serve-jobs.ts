import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { JobReply } from "./job-messages.ts";

/**
 * Makes this thread one of a WorkerPool's: each message is an order, each answer its reply. `moved` says which buffers of a
 * reply are moved, not copied. For entry points of threads; anywhere else it does nothing.
 */
export function serveJobs<Order, Reply>(work: (order: Order) => Reply, moved: (reply: Reply) => ArrayBuffer[]): void {
  const port = parentPort;
  if (port === null) return;
  standBack();
  port.on("message", (order: Order) => {
    try {
      const reply = work(order);
      port.postMessage({ reply } satisfies JobReply, moved(reply));
    } catch (thrown) {
      const failed = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
      port.postMessage({ failed } satisfies JobReply);
    }
  });
}

/** The event loop comes first: on Linux a thread's niceness is its own, elsewhere it would be the whole process's. */
function standBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, niceness);
  } catch {
    // Not allowed here: then it competes like the others.
  }
}

const niceness = 5;
