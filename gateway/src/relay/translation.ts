import type { Turn } from "#core/index.ts";
import {
  type AnswerContext,
  type AnswerSource,
  type CallerCodec,
  type StreamTap,
  type UpstreamCodec,
  upstreamSide,
} from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import { answerEvents } from "./answer-events.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import type { RelayHouse } from "./house.ts";
import { inlineMedia, needsInline } from "./inline-media.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";
import type { Way } from "./way.ts";

/** One attempt whose upstream speaks another dialect than its caller: requests go out and answers come back through the neutral form. */
export class Translation implements Translator {
  readonly #house: RelayHouse;
  readonly #call: Call;
  readonly #pick: Pick;
  readonly #way: Way;
  readonly #tally: CallTally;
  readonly #turn: Turn;
  readonly #caller: CallerCodec;
  readonly #upstream: UpstreamCodec;
  readonly #warnings: Warnings;
  #told = false;
  #tap: TranslatedTap | null = null;

  /** Throws Failure invalid_request when the call's body cannot be understood. */
  constructor(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally) {
    const caller = call.speech.codec;
    const upstream = upstreamSide(way.lane.dialect).codec;
    if (caller === null || upstream === null || !(call.body instanceof Uint8Array)) {
      throw new Error("a way that cannot be gone");
    }
    this.#house = house;
    this.#call = call;
    this.#pick = pick;
    this.#way = way;
    this.#tally = tally;
    this.#caller = caller;
    this.#upstream = upstream;
    tally.turn ??= readTurn(caller, call, call.body, tally);
    this.#turn = tally.turn;
    this.#warnings = new Warnings(tally.turnWarnings);
  }

  /** The body for the upstream. Throws Failure unsupported_by_model when it cannot be carried honestly. */
  body(): Uint8Array | Promise<Uint8Array> {
    const { lane } = this.#way;
    const { fetchesUrls } = lane.traits ?? {};
    const takesUrl = fetchesUrls === false ? none : upstreamSide(lane.dialect).takesUrl;
    if (takesUrl === null || fetchesUrls === true || !needsInline(this.#turn, takesUrl)) {
      return this.#write(this.#turn);
    }
    const fetch = { transport: this.#house.transport, signal: this.#call.signal, takesUrl };
    const { clock } = this.#house;
    const beganMs = clock.monotonic();
    return inlineMedia(this.#turn, fetch).then((turn) => {
      // What others' hosts take is not our own time.
      this.#tally.awayMs += clock.monotonic() - beganMs;
      return this.#write(turn);
    });
  }

  #write(turn: Turn): Uint8Array {
    const { provider, upstreamModel } = this.#pick.deployment;
    const target = {
      upstreamModel,
      account: provider.id,
      traits: this.#way.lane.traits ?? {},
      newId: this.#newId,
    };
    return this.#upstream.writeTurn(turn, target, this.warn);
  }

  /** A whole reply, as a whole answer or, for a caller that asked for one, as a stream that is already at its end. */
  whole(reply: Uint8Array): TranslatedAnswer {
    const answer = this.#upstream.readAnswer(reply, this.#source());
    if (!this.#call.facts.stream) {
      return { contentType: "application/json", body: this.#caller.writeAnswer(answer, this.#context()), images: 0 };
    }
    const writer = this.#caller.writeEvents(this.#context());
    let text = "";
    for (const event of answerEvents(answer)) text += writer.write(event);
    return { contentType: streamType, body: encoder.encode(text), images: 0 };
  }

  tap(inner: StreamTap): StreamTap {
    const { dialect } = this.#call.speech;
    const tap = new TranslatedTap({
      inner,
      reader: this.#upstream,
      writer: this.#caller,
      source: this.#source(),
      context: this.#context(),
      renderError: (failure) => dialect.renderStreamError(failure, this.#call.requestId),
    });
    this.#tap = tap;
    return tap;
  }

  warnings(): string | null {
    this.#told = true;
    return this.#warnings.header();
  }

  /** Once the headers have gone, a warning becomes a comment in the stream. */
  readonly warn = (what: string): void => {
    const said = this.#warnings.add(what);
    if (said !== null && this.#told) this.#tap?.comment(`sluice-warning: ${said}`);
  };

  readonly #newId = (prefix: string): string => this.#house.ids.next(prefix);

  #source(): AnswerSource {
    return { account: this.#pick.deployment.provider.id, newId: this.#newId };
  }

  #context(): AnswerContext {
    return {
      turn: this.#turn,
      model: this.#call.facts.model,
      account: this.#pick.deployment.provider.id,
      createdAt: Math.floor(this.#house.clock.now() / 1_000),
      wantsUsage: this.#call.facts.wantsUsage,
      newId: this.#newId,
      warn: this.warn,
    };
  }
}

const none = (): boolean => false;
const encoder = new TextEncoder();

function readTurn(caller: CallerCodec, call: Call, body: Uint8Array, tally: CallTally): Turn {
  return caller.readTurn(body, call.facts, (what) => void tally.turnWarnings.add(what));
}
