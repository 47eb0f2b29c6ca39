import { imagesProtocol } from "../endpoint-protocols.ts";
import { modelCall } from "../model-call.ts";

/** POST /v1/images/generations. */
export const images = modelCall({ protocol: imagesProtocol, takesAssets: true });
