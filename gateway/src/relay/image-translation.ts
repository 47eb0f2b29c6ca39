import { bounds, type ImageTurn } from "#core/index.ts";
import {
  geminiImageCodec,
  readImageForm,
  readImageTurn,
  type StreamTap,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
} from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { RelayHouse } from "./house.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";
import type { Way } from "./way.ts";

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
  #turn: ImageTurn | null = null;

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
    const content = body instanceof Uint8Array ? body : await body.content(bounds.formConvertBytesMax);
    if (!this.#talks) return writeImageJson(content, this.#pick.deployment.upstreamModel, this.warn);
    this.#turn = content instanceof Uint8Array ? readImageTurn(content, this.warn) : readImageForm(content, this.warn);
    return geminiImageCodec.writeImageTurn(this.#turn, this.warn);
  }

  /** A model that talks answers whole; a caller that wants events gets those of finished pictures. */
  whole(reply: Uint8Array): TranslatedAnswer {
    if (!this.#talks || this.#turn === null) return { contentType: "application/json", body: reply, images: 0 };
    const { facts, speech } = this.#call;
    const answer = geminiImageCodec.readImageAnswer(reply);
    const createdAt = Math.floor(this.#house.clock.now() / 1_000);
    const images = answer.images.length;
    if (!facts.stream) return { contentType: "application/json", body: writeImageAnswer(answer, createdAt), images };
    const kind = speech.endpoint === "images" ? "image_generation" : "image_edit";
    return { contentType: streamType, body: writeImageEvents(answer, createdAt, kind, this.#turn), images };
  }

  /** Seedream's own events are understood by callers of the images dialect. */
  tap(inner: StreamTap): StreamTap {
    return inner;
  }

  warnings(): string | null {
    return this.#warnings.header();
  }
}
