import { imageEditForm } from "@sluice/contract/words";
import type { FormFacts } from "../dialect.ts";
import { FormReader, modelFormKept } from "../form-reader.ts";
import type { FormEvent } from "../multipart-scanner.ts";
import { promptEstimate } from "./request.ts";

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
