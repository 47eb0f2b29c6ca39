import { outcomeOf } from "#bodies/index.ts";
import { bounds, type RequestedEmbedding, type RequestedImages } from "#core/index.ts";
import type { EmbeddingSides, ReplyFacts } from "#protocols/index.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { madeBy, workOnBody } from "../attempt/work-on-body.ts";
import { answerContext } from "./translation.ts";
import { streamType, type TranslatedAnswer, type Translator } from "./translator.ts";

/** Vectors of an upstream with another request than the caller's. */
export class EmbeddingTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #sides: EmbeddingSides;
  #asked: RequestedEmbedding | null = null;

  constructor(parts: AttemptParts, sides: EmbeddingSides) {
    this.#parts = parts;
    this.#sides = sides;
  }

  async body(): Promise<Uint8Array> {
    const { dependencies, call, selection, warnings } = this.#parts;
    const ask = { ...this.#sides, upstreamModel: selection.deployment.upstreamModel };
    const done = await workOnBody(dependencies.bodies, call, "embeddings", ask);
    for (const what of done.answer.warnings) warnings.add(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  async whole(reply: Uint8Array, { usage }: ReplyFacts): Promise<TranslatedAnswer> {
    if (this.#asked === null) throw new Error("an answer before its question");
    const { dependencies, call, warnings } = this.#parts;
    const { model, inputEstimate } = call.facts;
    const isCounted = usage !== null && usage.untold === undefined;
    if (!isCounted) warnings.add("the number of tokens is an estimate: this upstream does not count them");
    const inputTokens = isCounted ? usage.usage.inputUncached : inputEstimate;
    const ask = { ...this.#sides, ...this.#asked, model, inputTokens };
    const done = outcomeOf(await dependencies.bodies.do("embeddings-answer", ask, reply, { owner: call.principal }));
    return { contentType: "application/json", body: madeBy(done), images: 0 };
  }
}

/** Pictures of an upstream with another request: a chat model that makes them (Gemini), or one that takes no forms (Seedream). */
export class ImageTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #talks: boolean;
  #asked: RequestedImages | null = null;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#talks = parts.match.lane.dialect === "gemini";
  }

  async body(): Promise<Uint8Array> {
    const { dependencies, call, selection, warnings } = this.#parts;
    if (call.body === null) throw new Error("a call is sent after its answer has begun");
    const form = call.body instanceof Uint8Array ? null : call.body;
    const { upstreamModel } = selection.deployment;
    const ask = { talks: this.#talks, upstreamModel, boundary: form?.boundary ?? null };
    const body = (await form?.bytes(bounds.formConvertBytesMax)) ?? call.body;
    const done = await workOnBody(dependencies.bodies, call, "images", ask, { body });
    for (const what of done.answer.warnings) warnings.add(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  /** A chat model answers whole; a caller that wants events gets those of finished pictures. */
  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    if (!this.#talks || this.#asked === null) return { contentType: "application/json", body: reply, images: 0 };
    const { dependencies, call } = this.#parts;
    const { stream } = call.facts;
    const { createdAt } = answerContext(this.#parts);
    const kind = call.protocol.endpoint === "images" ? "image_generation" : "image_edit";
    const ask = { createdAt, stream: stream ? kind : null, asked: this.#asked } as const;
    const done = outcomeOf(await dependencies.bodies.do("image-answer", ask, reply, { owner: call.principal }));
    const contentType = stream ? streamType : "application/json";
    return { contentType, body: madeBy(done), images: done.answer.images };
  }
}
