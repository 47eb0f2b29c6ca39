import type { Wire } from "../dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { readInteractionReply } from "./reply.ts";
import { readInteractionRequest } from "./request.ts";
import { InteractionStreamTap } from "./stream.ts";

export { geminiInteractions } from "./error.ts";

export const geminiInteractionsWire: Wire = {
  readRequest: readInteractionRequest,
  requestEdits: modelEdit,
  readReply: readInteractionReply,
  tapStream: () => new InteractionStreamTap(),
};
