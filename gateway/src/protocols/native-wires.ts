import type { NativeDialectId, NativeEndpointId } from "#core/index.ts";
import type { Wire } from "./dialect.ts";
import { completionsWire } from "./openai-completions/index.ts";
import { embeddingsWire } from "./openai-embeddings/index.ts";
import { moderationsWire } from "./openai-moderations/index.ts";
import { speechWire } from "./openai-speech/index.ts";
import { transcriptionsWire } from "./openai-transcriptions/index.ts";
import { rerankWire } from "./rerank/index.ts";

/** The endpoints whose calls are only ever passed, never translated, and how each is listened to. */
export const nativeWires: Readonly<Record<NativeEndpointId, Wire>> = {
  completions: completionsWire,
  embeddings: embeddingsWire,
  rerank: rerankWire,
  moderations: moderationsWire,
  transcriptions: transcriptionsWire,
  translations: transcriptionsWire,
  speech: speechWire,
};

/** The same by the dialect that their upstreams speak; endpoints that share one are listened to alike. */
export const nativeDialectWires: Readonly<Record<NativeDialectId, Wire>> = {
  "openai-completions": completionsWire,
  "openai-embeddings": embeddingsWire,
  rerank: rerankWire,
  "openai-moderations": moderationsWire,
  "openai-transcriptions": transcriptionsWire,
  "openai-speech": speechWire,
};
