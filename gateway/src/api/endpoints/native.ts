import { modelEndpoints } from "@sluice/contract";
import { type NativeEndpointId, nativeDialects } from "#core/index.ts";
import type { Endpoint } from "../face.ts";
import { modelCall } from "../model-call.ts";
import { nativeSpeech } from "../speeches.ts";

/**
 * The endpoints whose calls are passed as they are: a JSON body of which only the model is replaced, and whatever the upstream
 * answers. They need no file of their own.
 */
export const nativeRoutes: readonly (readonly [path: string, name: NativeEndpointId, post: Endpoint])[] = (
  Object.keys(nativeDialects) as NativeEndpointId[]
).map((name) => [modelEndpoints[name].path, name, modelCall({ speech: nativeSpeech(name) })]);
