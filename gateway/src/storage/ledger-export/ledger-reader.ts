import type { Clock } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { type DatabasePlace, threadPlace } from "../database/database-place.ts";
import type { ExportedPart } from "./export-reading.ts";

/** Timeout for one part. */
const exportPartMs = 300_000;

export type LedgerReader = ReturnType<typeof createLedgerReader>;

/** Reads and compresses in a thread with its own connection, which starts on demand. */
export function createLedgerReader(place: DatabasePlace, clock: Pick<Clock, "after">) {
  const thread = new OrderThread<ExportOrder, ExportReply>({
    entry: new URL("./export-worker.ts", import.meta.url),
    name: "ledger export",
    data: threadPlace(place),
    onDeath: () => {},
  });
  const done = async (order: ExportOrder): Promise<ExportReply> => {
    const unbook = clock.after(exportPartMs, () => void thread.end());
    const answer = await thread.run(order).finally(unbook);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  };
  return {
    /** Number of entries that began in each hour. */
    async counted(hours: readonly number[]): Promise<readonly number[]> {
      const reply = await done({ type: "count", hours });
      return reply.type === "count" ? reply.entries : [];
    },
    /** `from` null: the beginning of the hour. */
    async part(hour: number, from: string | null): Promise<ExportedPart> {
      const reply = await done({ type: "part", hour, from });
      if (reply.type !== "part") throw new Error("the thread answered another order");
      return reply.part;
    },
    /** Ends the thread; the next call starts it again. */
    rest: (): Promise<void> => thread.end(),
  };
}

export type ExportOrder =
  | { readonly type: "count"; readonly hours: readonly number[] }
  | { readonly type: "part"; readonly hour: number; readonly from: string | null };

export type ExportReply =
  | { readonly type: "count"; readonly entries: readonly number[] }
  | { readonly type: "part"; readonly part: ExportedPart };
