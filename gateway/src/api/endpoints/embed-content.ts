import { batchEmbedProtocol, embedContentProtocol } from "../endpoint-protocols.ts";
import { modelAsked } from "../google-path.ts";
import { modelCall } from "../model-call.ts";

/** POST /v1beta/models/{model}:embedContent and :batchEmbedContents; below /v1/models/ as well. */
export const embedContent = modelCall({ protocol: embedContentProtocol, path: modelAsked });
export const batchEmbedContents = modelCall({ protocol: batchEmbedProtocol, path: modelAsked });
