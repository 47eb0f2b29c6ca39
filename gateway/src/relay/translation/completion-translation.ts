import { bounds, Failure } from "#core/index.ts";
import {
  type AnswerSource,
  answerEvents,
  CompletionEventWriter,
  openaiChatCodec,
  patchedRequest,
  type StreamTap,
  unbroken,
  writeCompletion,
} from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import { madeBy, workOnCall } from "../attempt/work-on-call.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";

/**
 * Text between a prompt and a suffix, asked of an upstream that is asked alike but answers as chat completions do (Mistral).
 * What is different about the question is its lane's to change.
 */
export class CompletionTranslation implements Translator {
  readonly #dependencies: RelayDependencies;
  readonly #call: Call;
  readonly #selection: Selection;
  readonly #warnings = new Warnings();
  readonly searches = false;

  constructor(dependencies: RelayDependencies, call: Call, selection: Selection) {
    this.#dependencies = dependencies;
    this.#call = call;
    this.#selection = selection;
  }

  readonly warn = (what: string): void => void this.#warnings.add(what);

  body(): Uint8Array | Promise<Uint8Array> {
    const { body, facts, protocol } = this.#call;
    if (!(body instanceof Uint8Array)) throw new Error("a call is sent after its answer has begun");
    const { upstreamModel } = this.#selection.deployment;
    if (body.length <= bounds.readInPlaceBytesMax) return patchedRequest(protocol.wire, body, facts, upstreamModel);
    const ask = { endpoint: protocol.endpoint, facts, upstreamModel };
    return workOnCall(this.#dependencies.bodies, this.#call, "patch", ask).then(madeBy);
  }

  whole(reply: Uint8Array): TranslatedAnswer {
    if (reply.length > bounds.replyInPlaceBytesMax) throw tooLong();
    const answer = unbroken(openaiChatCodec.readAnswer(reply, this.#source()));
    if (!this.#call.facts.stream) {
      return { contentType: "application/json", body: writeCompletion(answer, this.#context()), images: 0 };
    }
    const writer = new CompletionEventWriter(this.#context());
    let text = "";
    for (const event of answerEvents(answer)) text += writer.write(event);
    return { contentType: streamType, body: new TextEncoder().encode(text), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
    const { protocol, requestId } = this.#call;
    return new TranslatedTap({
      inner,
      reader: openaiChatCodec,
      writer: new CompletionEventWriter(this.#context()),
      source: this.#source(),
      inStream,
      renderError: (failure) => protocol.dialect.renderStreamError(failure, requestId),
    });
  }

  warnings(): string | null {
    return this.#warnings.header();
  }

  get warned(): Warnings {
    return this.#warnings;
  }

  #source(): AnswerSource {
    return { account: this.#selection.deployment.provider.id, newId: this.#newId, warn: this.warn };
  }

  #context() {
    const { model, wantsUsage } = this.#call.facts;
    return { model, wantsUsage, createdAt: Math.floor(this.#dependencies.clock.now() / 1_000), newId: this.#newId };
  }

  readonly #newId = (prefix: string): string => this.#dependencies.ids.next(prefix);
}

/** Longer than any model writes at once. */
function tooLong(): Failure {
  return new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other" });
}
