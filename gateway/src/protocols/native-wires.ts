import { type NativeDialectId, type NativeEndpointId, nativeDialects, type WireDialectId } from "#core/index.ts";
import type { Wire } from "./dialect.ts";
import { completionsWire } from "./openai-completions/index.ts";
import { embeddingsWire } from "./openai-embeddings/index.ts";
import { moderationsWire } from "./openai-moderations/index.ts";
import { speechWire } from "./openai-speech/index.ts";
import { transcriptionsWire } from "./openai-transcriptions/index.ts";
import { rerankWire } from "./rerank/index.ts";

/** How the dialects that are only ever passed, never translated, are listened to. */
export const nativeDialectWires: Readonly<Record<NativeDialectId, Wire>> = {
  "openai-completions": completionsWire,
  "openai-embeddings": embeddingsWire,
  rerank: rerankWire,
  "openai-moderations": moderationsWire,
  "openai-transcriptions": transcriptionsWire,
  "openai-speech": speechWire,
};

/** The same by endpoint; endpoints that speak one dialect are listened to alike. */
export const nativeWires = Object.fromEntries(
  Object.entries(nativeDialects).map(([endpoint, dialect]) => [endpoint, nativeDialectWires[dialect]]),
) as Readonly<Record<NativeEndpointId, Wire>>;

/** The smallest request of such a dialect; null for the others, and where there is none. */
export function smallestRequest(dialect: WireDialectId, model: string): object | null {
  const wires: Readonly<Partial<Record<WireDialectId, Wire>>> = nativeDialectWires;
  return wires[dialect]?.smallestRequest?.(model) ?? null;
}
