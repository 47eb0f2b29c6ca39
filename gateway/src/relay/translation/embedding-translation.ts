import { outcomeOf } from "#bodies/index.ts";
import type { RequestedEmbedding } from "#core/index.ts";
import type { EmbeddingSides, ReplyFacts, StreamTap } from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import { madeBy, workOnCall } from "../attempt/work-on-call.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";

/** Vectors asked of an upstream that is asked in another way than the caller asks. */
export class EmbeddingTranslation implements Translator {
  readonly #dependencies: RelayDependencies;
  readonly #call: Call;
  readonly #selection: Selection;
  readonly #sides: EmbeddingSides;
  readonly searches = false;
  readonly #warnings = new Warnings();
  #asked: RequestedEmbedding | null = null;

  constructor(dependencies: RelayDependencies, call: Call, selection: Selection, sides: EmbeddingSides) {
    this.#dependencies = dependencies;
    this.#call = call;
    this.#selection = selection;
    this.#sides = sides;
  }

  readonly warn = (what: string): void => void this.#warnings.add(what);

  async body(): Promise<Uint8Array> {
    const { upstreamModel } = this.#selection.deployment;
    const done = await workOnCall(this.#dependencies.bodies, this.#call, "embeddings", {
      ...this.#sides,
      upstreamModel,
    });
    for (const what of done.answer.warnings) this.warn(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  /** What the upstream does not count is told to the caller as it is booked: as an estimate. */
  async whole(reply: Uint8Array, { usage }: ReplyFacts): Promise<TranslatedAnswer> {
    if (this.#asked === null) throw new Error("an answer before its question");
    const { model, inputEstimate } = this.#call.facts;
    const told = usage !== null && usage.untold === undefined;
    if (!told) this.warn("the number of tokens is an estimate: this upstream does not count them");
    const done = outcomeOf(
      await this.#dependencies.bodies.do(
        "embeddings-answer",
        { ...this.#sides, ...this.#asked, model, inputTokens: told ? usage.usage.inputUncached : inputEstimate },
        reply,
      ),
    );
    return { contentType: "application/json", body: madeBy(done), images: 0 };
  }

  /** Vectors do not stream. */
  tap(inner: StreamTap): StreamTap {
    return inner;
  }

  warnings(): string | null {
    return this.#warnings.header();
  }

  get warned(): Warnings {
    return this.#warnings;
  }
}
