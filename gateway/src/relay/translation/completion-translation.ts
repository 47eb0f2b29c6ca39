import { bounds, Failure } from "#core/index.ts";
import { CompletionEventWriter, openaiChatCodec, type StreamTap, unbroken, writeCompletion } from "#protocols/index.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { patchedBody } from "../attempt/outbound.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { answerContext, answerSource } from "./translation.ts";
import { type TranslatedAnswer, type Translator, wholeStream } from "./translator.ts";

/** Completions of an upstream that takes the same request but answers as chat completions do (Mistral). */
export class CompletionTranslation implements Translator {
  readonly #parts: AttemptParts;

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
    const answer = unbroken(openaiChatCodec.readAnswer(reply, answerSource(this.#parts)));
    const context = answerContext(this.#parts);
    if (this.#parts.call.facts.stream) return wholeStream(new CompletionEventWriter(context), answer);
    return { contentType: "application/json", body: writeCompletion(answer, context), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
    const { protocol, requestId } = this.#parts.call;
    return new TranslatedTap({
      inner,
      reader: openaiChatCodec,
      writer: new CompletionEventWriter(answerContext(this.#parts)),
      source: answerSource(this.#parts),
      inStream,
      renderError: (failure) => protocol.dialect.renderStreamError(failure, requestId),
    });
  }
}
