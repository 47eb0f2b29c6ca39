import type { WireDialectId } from "#core/index.ts";
import { unsealMessages } from "./anthropic-messages/unseal-messages.ts";
import { splice } from "./bytes.ts";
import type { Warn } from "./codec.ts";
import { unsealContents } from "./gemini/unseal-contents.ts";
import { type Cut, firstValueAt } from "./json-places.ts";
import { unsealInput } from "./openai-responses/unseal-input.ts";

export interface Unsealing {
  /** Of the body, which is its upstream's own. */
  readonly dialect: WireDialectId;
  readonly upstreamModel: string;
}

/**
 * A body without what other vendors sealed in an earlier turn of its conversation: the upstream could not read it, and
 * would refuse the whole. Every other byte stays as it is. For bodies whose grammar was checked.
 */
export function unsealBody(body: Uint8Array, { dialect, upstreamModel }: Unsealing, warn: Warn): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const start = firstValueAt(bytes);
  const cuts = cutsIn(bytes, start, { dialect, upstreamModel }, warn);
  return cuts.length === 0
    ? body
    : splice(
        body,
        [...cuts].sort((a, b) => a.start - b.start),
      );
}

function cutsIn(bytes: Buffer, start: number, { dialect, upstreamModel }: Unsealing, warn: Warn): readonly Cut[] {
  switch (dialect) {
    case "anthropic-messages":
      return unsealMessages(bytes, start, warn);
    case "openai-responses":
      return unsealInput(bytes, start);
    case "gemini":
      return unsealContents(bytes, start, upstreamModel);
    default:
      return [];
  }
}
