import { ImagesFormReader } from "#protocols/index.ts";
import { isJsonType } from "../body.ts";
import type { Endpoint } from "../dependencies.ts";
import { imageEditsProtocol } from "../endpoint-protocols.ts";
import { formCall, jsonOrForm } from "../form-call.ts";
import { modelCall } from "../model-call.ts";

/** POST /v1/images/edits, with a form or a JSON body. */
export const imageEdits: Endpoint = (dependencies, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? jsonEdits(dependencies, exchange) : formEdits(dependencies, exchange);
};

const jsonEdits = modelCall({ protocol: imageEditsProtocol, takesAssets: true });
const formEdits = formCall(imageEditsProtocol, {
  fields: () => new ImagesFormReader(),
  wanted: jsonOrForm,
});
