import type { NativeDialectId, NativeEndpointId } from "#core/index.ts";
import type { Wire } from "./dialect.ts";
import { embeddingsWire } from "./openai-embeddings/index.ts";

/** The endpoints whose calls are only ever passed, never translated: a dialect of their own each, and how it is listened to. */
export const nativeWires: Readonly<Record<NativeEndpointId, Wire>> = {
  embeddings: embeddingsWire,
};

/** Of upstreams by the dialect that they speak; endpoints that share one are listened to alike. */
export const nativeDialectWires: Readonly<Record<NativeDialectId, Wire>> = {
  "openai-embeddings": embeddingsWire,
};
