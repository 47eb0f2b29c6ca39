import { modelEndpoints } from "@sluice/contract/words";
import { type NativeEndpointId, nativeDialects } from "#core/index.ts";
import { TranscriptionFormReader } from "#protocols/index.ts";
import type { Endpoint } from "../dependencies.ts";
import { nativeProtocol } from "../endpoint-protocols.ts";
import { formCall } from "../form-call.ts";
import { modelCall } from "../model-call.ts";

const soundForm = "A sound is sent as a form: send `content-type: multipart/form-data` with `file` and `model`.";

/**
 * The endpoints whose calls are passed as they are: a body of which only the model is replaced, and whatever the upstream
 * answers. They need no file of their own.
 */
export const nativeRoutes: readonly (readonly [path: string, name: NativeEndpointId, post: Endpoint])[] = (
  Object.keys(nativeDialects) as NativeEndpointId[]
).map((name) => [modelEndpoints[name].path, name, endpointOf(name)]);

/** Sounds come as forms; everything else is JSON. */
function endpointOf(name: NativeEndpointId): Endpoint {
  const protocol = nativeProtocol(name);
  return protocol.wireDialect === "openai-transcriptions"
    ? formCall(protocol, { fields: () => new TranscriptionFormReader(), wanted: soundForm })
    : modelCall({ protocol });
}
