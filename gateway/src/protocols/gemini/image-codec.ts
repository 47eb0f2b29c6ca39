import type { ImageAnswer, ImageTurn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { warnOnce } from "../warn-once.ts";
import { readGeminiImages } from "./image-answer.ts";
import { geminiImageRequest } from "./image-request.ts";

/** How pictures are asked of a Gemini model that makes them (generateContent), and read from its answer. */
export const geminiImageCodec = {
  /** Throws Failure unsupported_by_model when the turn cannot be carried honestly. */
  writeImageTurn(turn: ImageTurn, warn: Warn): Uint8Array {
    return encoder.encode(JSON.stringify(geminiImageRequest(turn, warnOnce(warn))));
  },
  readImageAnswer(body: Uint8Array): ImageAnswer {
    return readGeminiImages(body);
  },
};

const encoder = new TextEncoder();
