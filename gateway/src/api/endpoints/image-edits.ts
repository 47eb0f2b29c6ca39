import { ImagesFormReader } from "#protocols/index.ts";
import type { Endpoint } from "../face.ts";
import { formCall } from "../form-call.ts";
import { modelCall } from "../model-call.ts";
import { imageEditsSpeech } from "../speeches.ts";

/** POST /v1/images/edits, with a form or a JSON body. */
export const imageEdits: Endpoint = (face, exchange) => {
  const isForm = /^multipart\//i.test(exchange.request.headers.get("content-type") ?? "");
  return isForm ? formEdits(face, exchange) : jsonEdits(face, exchange);
};

const jsonEdits = modelCall({ speech: imageEditsSpeech, takesAssets: true });
const formEdits = formCall(imageEditsSpeech, () => new ImagesFormReader());
