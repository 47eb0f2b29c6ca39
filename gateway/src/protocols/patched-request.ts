import { bounds } from "#core/index.ts";
import { splice, splicedPieces } from "./bytes.ts";
import type { RequestFacts, Wire } from "./dialect.ts";

/** The body for the upstream; the very same bytes where nothing is different in them. */
export function patchedRequest(wire: Wire, body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array {
  const edits = wire.requestEdits(body, facts, upstreamModel);
  return edits.length === 0 ? body : splice(body, edits);
}

/** The same as pieces of the caller's body and what stands between them: nothing is copied. See `patchesAtOnce`. */
export function patchedPieces(
  wire: Wire,
  body: Uint8Array,
  facts: RequestFacts,
  upstreamModel: string,
): readonly Uint8Array[] {
  return splicedPieces(body, wire.requestEdits(body, facts, upstreamModel));
}

/** Whether the edits of a request are known without looking through much of its body. */
export function patchesAtOnce({ scansForEdits }: Wire, { streamOptionsSpan }: RequestFacts): boolean {
  if (scansForEdits === true) return false;
  return streamOptionsSpan === null || streamOptionsSpan.end - streamOptionsSpan.start <= bounds.governingBytesMax;
}
