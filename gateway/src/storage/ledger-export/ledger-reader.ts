import type { Clock } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { type DatabasePlace, sentPlace } from "../database/database-place.ts";
import type { ExportedPart } from "./export-reading.ts";

/** How long one object may take to be made. */
const exportPartMs = 300_000;

export type LedgerReader = ReturnType<typeof createLedgerReader>;

/** Reads and packs in a thread with a connection of its own, which is started when there is something to copy. */
export function createLedgerReader(place: DatabasePlace, clock: Pick<Clock, "after">) {
  const thread = new OrderThread<ExportOrder, ExportReply>({
    entry: new URL("./export-worker.ts", import.meta.url),
    name: "ledger export",
    data: sentPlace(place),
    onDeath: () => {},
  });
  const done = async (order: ExportOrder): Promise<ExportReply> => {
    const unbook = clock.after(exportPartMs, () => void thread.end());
    const answer = await thread.run(order).finally(unbook);
    if ("reply" in answer) return answer.reply;
    throw new Error(answer.failed);
  };
  return {
    /** How many entries began in each of these hours. */
    async counted(hours: readonly number[]): Promise<readonly number[]> {
      const reply = await done({ type: "count", hours });
      return reply.type === "count" ? reply.entries : [];
    },
    /** A piece of an hour, from its beginning (null) or where the one before ended. */
    async part(hour: number, from: string | null): Promise<ExportedPart> {
      const reply = await done({ type: "part", hour, from });
      if (reply.type !== "part") throw new Error("the thread answered another order");
      return reply.part;
    },
    /** Ends the thread until it is asked again. */
    rest: (): Promise<void> => thread.end(),
  };
}

/** To the thread that reads the ledger for its copies. */
export type ExportOrder =
  | { readonly type: "count"; readonly hours: readonly number[] }
  | { readonly type: "part"; readonly hour: number; readonly from: string | null };

export type ExportReply =
  | { readonly type: "count"; readonly entries: readonly number[] }
  | { readonly type: "part"; readonly part: ExportedPart };
