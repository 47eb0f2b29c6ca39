import { outcomeOf } from "#bodies/index.ts";
import type { RequestedEmbedding } from "#core/index.ts";
import type { EmbeddingSides, ReplyFacts, StreamTap } from "#protocols/index.ts";
import type { AttemptParts } from "../attempt/attempt-parts.ts";
import { madeBy, workOnBody } from "../attempt/work-on-body.ts";
import type { TranslatedAnswer, Translator } from "./translator.ts";

/** Vectors asked of an upstream that is asked in another way than the caller asks. */
export class EmbeddingTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #sides: EmbeddingSides;
  readonly searches = false;
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

  /** What the upstream does not count is told to the caller as it is booked: as an estimate. */
  async whole(reply: Uint8Array, { usage }: ReplyFacts): Promise<TranslatedAnswer> {
    if (this.#asked === null) throw new Error("an answer before its question");
    const { dependencies, call, warnings } = this.#parts;
    const { model, inputEstimate } = call.facts;
    const isCounted = usage !== null && usage.untold === undefined;
    if (!isCounted) warnings.add("the number of tokens is an estimate: this upstream does not count them");
    const inputTokens = isCounted ? usage.usage.inputUncached : inputEstimate;
    const ask = { ...this.#sides, ...this.#asked, model, inputTokens };
    const done = outcomeOf(await dependencies.bodies.do("embeddings-answer", ask, reply));
    return { contentType: "application/json", body: madeBy(done), images: 0 };
  }

  /** Vectors do not stream. */
  tap(inner: StreamTap): StreamTap {
    return inner;
  }
}
