import type Anthropic from "@anthropic-ai/sdk";
import { until } from "../../../../test/until.ts";

/** The batch, once it has ended. */
export function ended(client: Anthropic, id: string): Promise<Anthropic.Messages.MessageBatch> {
  return until(async () => {
    const batch = await client.messages.batches.retrieve(id);
    return batch.processing_status === "ended" ? batch : null;
  });
}

/** The status with which a call fails; null: it does not. */
export async function statusOf(call: PromiseLike<unknown>): Promise<number | null> {
  try {
    await call;
    return null;
  } catch (thrown) {
    return (thrown as { status?: number }).status ?? 0;
  }
}
