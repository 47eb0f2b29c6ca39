import { modelCall } from "../model-call.ts";
import { imagesSpeech } from "../speeches.ts";

/** POST /v1/images/generations. */
export const images = modelCall({ speech: imagesSpeech, takesAssets: true });
