import { imageEditForm } from "@sluice/contract/words";
import type { FormFacts, Wire } from "../dialect.ts";
import { FormReader, modelFormKept } from "../form/form-reader.ts";
import type { FormEvent } from "../form/multipart-scanner.ts";
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
export { writeImageJson } from "./image-json.ts";
export { readImageForm, readImageTurn } from "./image-turn.ts";

/** The facts of a form that asks for edited pictures. */
export class ImagesFormReader {
  readonly #form = new FormReader(imageEditForm, modelFormKept);

  take(event: FormEvent): void {
    this.#form.take(event);
  }

  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts {
    const form = this.#form;
    return form.facts({
      inputEstimate: promptEstimate(form.sizeOf("prompt")),
      images: Number(form.text("n") || 1),
      addressed: form.files === 0 ? undefined : { pictures: form.files, others: 0 },
    });
  }
}
