import type { CallerCodec, UpstreamCodec } from "../codec.ts";
import type { Wire } from "../dialect.ts";
import { modelEdit } from "../request/request-body.ts";
import { InteractionEventReader, readInteractionAnswer } from "./read-answer.ts";
import { readInteractionTurn } from "./read-turn.ts";
import { readInteractionReply } from "./reply.ts";
import { readInteractionRequest } from "./request.ts";
import { InteractionStreamTap } from "./stream.ts";
import { InteractionEventWriter, writeInteractionAnswer } from "./write-answer.ts";
import { writeInteractionTurn } from "./write-turn.ts";

export { geminiInteractions } from "./error.ts";

export const geminiInteractionsWire: Wire = {
  readRequest: readInteractionRequest,
  requestEdits: modelEdit,
  readReply: readInteractionReply,
  tapStream: () => new InteractionStreamTap(),
};

export const geminiInteractionsCodec: CallerCodec & UpstreamCodec = {
  readTurn: readInteractionTurn,
  writeAnswer: writeInteractionAnswer,
  writeEvents: (context) => new InteractionEventWriter(context),
  writeTurn: writeInteractionTurn,
  readAnswer: readInteractionAnswer,
  readEvents: (emit, source) => new InteractionEventReader(emit, source),
};
