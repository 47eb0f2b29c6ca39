import { outcomeOf } from "#bodies/index.ts";
import { type AskedImages, bounds } from "#core/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { RelayHouse } from "./house.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";
import type { Way } from "./way.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

/**
 * Pictures asked of an upstream that is asked in another way: a model that makes them while it talks (Gemini), or a
 * vendor that takes no forms (Seedream).
 */
export class ImageTranslation implements Translator {
  readonly #house: RelayHouse;
  readonly #call: Call;
  readonly #pick: Pick;
  readonly #talks: boolean;
  readonly #warnings = new Warnings();
  #asked: AskedImages | null = null;

  constructor(house: RelayHouse, call: Call, pick: Pick, way: Way) {
    this.#house = house;
    this.#call = call;
    this.#pick = pick;
    this.#talks = way.lane.dialect === "gemini";
  }

  readonly warn = (what: string): void => void this.#warnings.add(what);

  async body(): Promise<Uint8Array> {
    const { body } = this.#call;
    if (body === null) throw new Error("a call is sent after its answer has begun");
    const { upstreamModel } = this.#pick.deployment;
    const ask = { talks: this.#talks, upstreamModel };
    const work = this.#house.bodies;
    const done =
      body instanceof Uint8Array
        ? await workOnCall(work, this.#call, "images", { ...ask, boundary: null })
        : outcomeOf(
            await work.do("images", { ...ask, boundary: body.boundary }, await body.bytes(bounds.formConvertBytesMax), {
              signal: this.#call.signal,
            }),
          );
    for (const what of done.answer.warnings) this.warn(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  /** A model that talks answers whole; a caller that wants events gets those of finished pictures. */
  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    if (!this.#talks || this.#asked === null) return { contentType: "application/json", body: reply, images: 0 };
    const { facts, speech } = this.#call;
    const kind = speech.endpoint === "images" ? "image_generation" : "image_edit";
    const done = outcomeOf(
      await this.#house.bodies.do(
        "image-answer",
        {
          createdAt: Math.floor(this.#house.clock.now() / 1_000),
          stream: facts.stream ? kind : null,
          asked: this.#asked,
        },
        reply,
      ),
    );
    const contentType = facts.stream ? streamType : "application/json";
    return { contentType, body: madeBy(done), images: done.answer.images };
  }

  /** Seedream's own events are understood by callers of the images dialect. */
  tap(inner: StreamTap): StreamTap {
    return inner;
  }

  warnings(): string | null {
    return this.#warnings.header();
  }

  readonly searches = false;

  get warned(): Warnings {
    return this.#warnings;
  }
}
