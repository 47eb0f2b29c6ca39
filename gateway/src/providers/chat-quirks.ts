import { editBody } from "#protocols/index.ts";
import type { OutboundDraft } from "./kind.ts";

/** For vendors that refuse or overlook `max_completion_tokens`: the same cap under its older name. */
export function asMaxTokens(draft: OutboundDraft): void {
  if (mentions(draft.body, "max_completion_tokens")) {
    draft.body = editBody(draft.body, { rename: { max_completion_tokens: "max_tokens" } });
  }
}

/** The other way round, for servers of newer models only. */
export function asMaxCompletionTokens(draft: OutboundDraft): void {
  if (mentions(draft.body, "max_tokens")) {
    draft.body = editBody(draft.body, { rename: { max_tokens: "max_completion_tokens" } });
  }
}

/** For vendors that refuse `stream_options`. */
export function withoutStreamOptions(draft: OutboundDraft): void {
  if (mentions(draft.body, "stream_options")) draft.body = editBody(draft.body, { remove: ["stream_options"] });
}

/** A quick look that spares most bodies the scan. */
function mentions(body: Uint8Array | null, name: string): body is Uint8Array {
  return body !== null && Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(`"${name}"`);
}
