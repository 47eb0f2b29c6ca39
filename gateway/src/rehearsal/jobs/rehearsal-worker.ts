import type { RehearsalResult } from "@sluice/contract/console";
import { threadDatabase } from "#storage/in-thread.ts";
import { serveOrders, systemClock } from "#system/index.ts";
import { type RehearsalOrder, type RehearsalProgress, RehearsalRun } from "../replay/rehearsal-run.ts";

/** Pages are replayed for about so long before the thread reports its progress, and can be canceled. */
const stepMs = 50;

export type WorkerOrder = { readonly type: "begin"; readonly order: RehearsalOrder } | { readonly type: "step" };
/** `result`: only once it is over. */
export type WorkerReply = RehearsalProgress & { readonly result: RehearsalResult | null };

// Entry point of the thread. Refusals are frequent here, so they have no stack traces.
const { open, close } = threadDatabase();
let run: RehearsalRun | null = null;

serveOrders<WorkerOrder, WorkerReply>({
  async work(order) {
    Error.stackTraceLimit = 0;
    if (order.type === "begin") {
      run = new RehearsalRun(await open(), order.order);
      return { entries: 0, progress: 0, isOver: false, result: null };
    }
    if (run === null) throw new Error("no rehearsal was begun");
    const startMs = systemClock.monotonic();
    let progress: RehearsalProgress;
    do progress = await run.step();
    while (!progress.isOver && systemClock.monotonic() - startMs < stepMs);
    if (!progress.isOver) return { ...progress, result: null };
    const result = await run.result();
    run = null;
    return { ...progress, result };
  },
  close,
});
