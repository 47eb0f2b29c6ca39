import { modelCall } from "../model-call.ts";
import { embeddingsSpeech } from "../speeches.ts";

/** POST /v1/embeddings. */
export const embeddings = modelCall({ speech: embeddingsSpeech });
