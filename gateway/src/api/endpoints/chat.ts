import { modelCall } from "../model-call.ts";
import { chatSpeech } from "../speeches.ts";

/** POST /v1/chat/completions, normal and streaming. */
export const chat = modelCall({ speech: chatSpeech });
