import type { Wire } from "../dialect.ts";
import { readImagesReply } from "./reply.ts";
import { imagesEdits, readImagesRequest } from "./request.ts";
import { ImagesStreamTap } from "./stream.ts";

/** Pictures made or edited, asked for with a JSON body. Their forms are read by form-facts.ts. */
export const imagesWire: Wire = {
  readRequest: readImagesRequest,
  requestEdits: imagesEdits,
  readReply: readImagesReply,
  tapStream: () => new ImagesStreamTap(),
};

export { ImagesFormReader } from "./form-facts.ts";
export { writeImageAnswer, writeImageEvents } from "./image-answer.ts";
export { writeImageJson } from "./image-json.ts";
export { readImageForm, readImageTurn } from "./image-turn.ts";
