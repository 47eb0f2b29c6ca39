import { bounds, Failure } from "#core/index.ts";
import {
  type AnswerSource,
  CompletionEventWriter,
  openaiChatCodec,
  type StreamTap,
  unbroken,
  writeCompletion,
} from "#protocols/index.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { patchedBody } from "../attempt/outbound.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { type TranslatedAnswer, type Translator, wholeStream } from "./translator.ts";

/** Completions of an upstream that takes the same request but answers as chat completions do (Mistral). */
export class CompletionTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly searches = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  body(): Uint8Array | Promise<Uint8Array> {
    return patchedBody(this.#parts);
  }

  whole(reply: Uint8Array): TranslatedAnswer {
    // Longer than any model writes at once.
    if (reply.length > bounds.replyInPlaceBytesMax)
      throw new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other" });
    const answer = unbroken(openaiChatCodec.readAnswer(reply, this.#source()));
    if (this.#parts.call.facts.stream) return wholeStream(new CompletionEventWriter(this.#context()), answer);
    return { contentType: "application/json", body: writeCompletion(answer, this.#context()), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
    const { protocol, requestId } = this.#parts.call;
    return new TranslatedTap({
      inner,
      reader: openaiChatCodec,
      writer: new CompletionEventWriter(this.#context()),
      source: this.#source(),
      inStream,
      renderError: (failure) => protocol.dialect.renderStreamError(failure, requestId),
    });
  }

  #source(): AnswerSource {
    const { selection, warnings } = this.#parts;
    return { account: selection.deployment.provider.id, newId: this.#newId, warn: warnings.add };
  }

  #context() {
    const { call, dependencies } = this.#parts;
    const { model, wantsUsage } = call.facts;
    return { model, wantsUsage, createdAt: Math.floor(dependencies.clock.now() / 1_000), newId: this.#newId };
  }

  readonly #newId = (prefix: string): string => this.#parts.dependencies.ids.next(prefix);
}
