import { imageEditForm } from "@sluice/contract/words";
import type { FormFacts, Wire } from "../dialect.ts";
import { FormReader, modelFormKept } from "../form/form-reader.ts";
import { modelEdit } from "../request/request-body.ts";
import { readImagesReply } from "./reply.ts";
import { promptEstimate, readImagesRequest } from "./request.ts";
import { ImagesStreamTap } from "./stream.ts";

/** Pictures made or edited, asked for with a JSON body. Their forms are read by form-facts.ts. */
export const imagesWire: Wire = {
  readRequest: readImagesRequest,
  requestEdits: modelEdit,
  readReply: readImagesReply,
  tapStream: () => new ImagesStreamTap(),
};

export { writeImageAnswer, writeImageEvents } from "./image-answer.ts";
export { readImageTurn, writeImageJson } from "./image-turn.ts";

/** The facts of a form that asks for edited pictures. */
export class ImagesFormReader extends FormReader {
  constructor() {
    super(imageEditForm, modelFormKept);
  }

  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts {
    return this.factsWith({
      inputEstimate: promptEstimate(this.sizeOf("prompt")),
      images: Number(this.text("n") || 1),
      addressed: this.files === 0 ? undefined : { pictures: this.files, others: 0 },
    });
  }
}
