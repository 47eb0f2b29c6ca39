import { chatProtocol } from "../endpoint-protocols.ts";
import { modelCall } from "../model-call.ts";

/** POST /v1/chat/completions, normal and streaming. */
export const chat = modelCall({ protocol: chatProtocol });
