import { modelAsked } from "../google-path.ts";
import { modelCall } from "../model-call.ts";
import { batchEmbedSpeech, embedContentSpeech } from "../speeches.ts";

/** POST /v1beta/models/{model}:embedContent and :batchEmbedContents; below /v1/models/ as well. */
export const embedContent = modelCall({ speech: embedContentSpeech, path: modelAsked });
export const batchEmbedContents = modelCall({ speech: batchEmbedSpeech, path: modelAsked });
