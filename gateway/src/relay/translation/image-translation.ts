import { outcomeOf } from "#bodies/index.ts";
import { bounds, type RequestedImages } from "#core/index.ts";
import type { StreamTap } from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import type { LaneMatch } from "../attempt/lane-match.ts";
import { madeBy, workOnCall } from "../attempt/work-on-call.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";

/**
 * Pictures asked of an upstream that is asked in another way: a model that makes them while it talks (Gemini), or a
 * vendor that takes no forms (Seedream).
 */
export class ImageTranslation implements Translator {
  readonly #dependencies: RelayDependencies;
  readonly #call: Call;
  readonly #selection: Selection;
  readonly #talks: boolean;
  readonly #warnings = new Warnings();
  #asked: RequestedImages | null = null;

  constructor(dependencies: RelayDependencies, call: Call, selection: Selection, match: LaneMatch) {
    this.#dependencies = dependencies;
    this.#call = call;
    this.#selection = selection;
    this.#talks = match.lane.dialect === "gemini";
  }

  readonly warn = (what: string): void => void this.#warnings.add(what);

  async body(): Promise<Uint8Array> {
    const { body } = this.#call;
    if (body === null) throw new Error("a call is sent after its answer has begun");
    const { upstreamModel } = this.#selection.deployment;
    const ask = { talks: this.#talks, upstreamModel };
    const work = this.#dependencies.bodies;
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
    const { facts, protocol } = this.#call;
    const kind = protocol.endpoint === "images" ? "image_generation" : "image_edit";
    const done = outcomeOf(
      await this.#dependencies.bodies.do(
        "image-answer",
        {
          createdAt: Math.floor(this.#dependencies.clock.now() / 1_000),
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
