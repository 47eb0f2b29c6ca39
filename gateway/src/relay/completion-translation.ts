import { bounds, Failure } from "#core/index.ts";
import {
  type AnswerSource,
  answerEvents,
  CompletionEventWriter,
  openaiChatCodec,
  patchedRequest,
  type StreamTap,
  writeCompletion,
} from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { RelayHouse } from "./house.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

/**
 * Text between a prompt and a suffix, asked of an upstream that is asked alike but answers as chat completions do (Mistral).
 * What is different about the question is its lane's to change.
 */
export class CompletionTranslation implements Translator {
  readonly #house: RelayHouse;
  readonly #call: Call;
  readonly #pick: Pick;
  readonly #warnings = new Warnings();
  readonly searches = false;

  constructor(house: RelayHouse, call: Call, pick: Pick) {
    this.#house = house;
    this.#call = call;
    this.#pick = pick;
  }

  readonly warn = (what: string): void => void this.#warnings.add(what);

  body(): Uint8Array | Promise<Uint8Array> {
    const { body, facts, speech } = this.#call;
    if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
    const { upstreamModel } = this.#pick.deployment;
    if (body.length <= bounds.readInPlaceBytesMax) return patchedRequest(speech.wire, body, facts, upstreamModel);
    const ask = { endpoint: speech.endpoint, facts, upstreamModel };
    return workOnCall(this.#house.bodies, this.#call, "patch", ask).then(madeBy);
  }

  whole(reply: Uint8Array): TranslatedAnswer {
    if (reply.length > bounds.replyInPlaceBytesMax) throw tooLong();
    const answer = openaiChatCodec.readAnswer(reply, this.#source());
    if (!this.#call.facts.stream) {
      return { contentType: "application/json", body: writeCompletion(answer, this.#context()), images: 0 };
    }
    const writer = new CompletionEventWriter(this.#context());
    let text = "";
    for (const event of answerEvents(answer)) text += writer.write(event);
    return { contentType: streamType, body: new TextEncoder().encode(text), images: 0 };
  }

  tap(inner: StreamTap): StreamTap {
    const { speech, requestId } = this.#call;
    return new TranslatedTap({
      inner,
      reader: openaiChatCodec,
      writer: new CompletionEventWriter(this.#context()),
      source: this.#source(),
      renderError: (failure) => speech.dialect.renderStreamError(failure, requestId),
    });
  }

  warnings(): string | null {
    return this.#warnings.header();
  }

  get warned(): Warnings {
    return this.#warnings;
  }

  #source(): AnswerSource {
    return { account: this.#pick.deployment.provider.id, newId: this.#newId, warn: this.warn };
  }

  #context() {
    const { model, wantsUsage } = this.#call.facts;
    return { model, wantsUsage, createdAt: Math.floor(this.#house.clock.now() / 1_000), newId: this.#newId };
  }

  readonly #newId = (prefix: string): string => this.#house.ids.next(prefix);
}

/** Longer than any model writes at once. */
function tooLong(): Failure {
  return new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other", unwell: true });
}
