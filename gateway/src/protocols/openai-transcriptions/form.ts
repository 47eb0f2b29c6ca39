import { soundForm } from "@sluice/contract/words";
import type { FormFacts } from "../dialect.ts";
import { FormReader, modelFormKept } from "../form-reader.ts";
import type { FormEvent } from "../multipart-scanner.ts";
import { audioSeconds } from "./audio-seconds.ts";

/** Of a second of sound, by the vendor's price of a minute against that of a token; and the most that was seen. */
const tokensPerSecond = 17;
const tokensPerSecondMax = 25;

/** The facts of a form with a sound in it. */
export class TranscriptionFormReader {
  readonly #form = new FormReader(soundForm, modelFormKept);

  take(event: FormEvent): void {
    this.#form.take(event);
  }

  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts {
    const form = this.#form;
    form.check();
    const { likely, most } = audioSeconds(form.fileBegin, form.fileBytes);
    const promptBytes = form.sizeOf("prompt");
    return form.facts({
      inputEstimate: likely * tokensPerSecond + Math.ceil(promptBytes / 4),
      inputTokensMax: most * tokensPerSecondMax + promptBytes,
      counted: { likely: { audioSeconds: likely }, most: { audioSeconds: most } },
    });
  }
}
