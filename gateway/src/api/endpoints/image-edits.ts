import { ImagesFormReader } from "#protocols/index.ts";
import { isJsonType } from "../body.ts";
import type { Endpoint } from "../face.ts";
import { formCall, jsonOrForm } from "../form-call.ts";
import { modelCall } from "../model-call.ts";
import { imageEditsSpeech } from "../speeches.ts";

/** POST /v1/images/edits, with a form or a JSON body. */
export const imageEdits: Endpoint = (face, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? jsonEdits(face, exchange) : formEdits(face, exchange);
};

const jsonEdits = modelCall({ speech: imageEditsSpeech, takesAssets: true });
const formEdits = formCall(imageEditsSpeech, {
  fields: () => new ImagesFormReader(),
  wanted: jsonOrForm,
});
