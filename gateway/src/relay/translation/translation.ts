import { addressesIn, outcomeOf } from "#bodies/index.ts";
import { bounds, type Failure, type RequestedTurn, type Turn, type WireDialectId } from "#core/index.ts";
import {
  type AnswerContext,
  type AnswerSource,
  answerEvents,
  type CallEndpointId,
  type CallerCodec,
  type DialectTraits,
  OwnToolNames,
  readOutline,
  type StreamTap,
  searchesByOptions,
  type UpstreamCodec,
  unbroken,
  upstreamSide,
  writeOutline,
} from "#protocols/index.ts";
import { mayFetch } from "#providers/index.ts";
import type { Selection } from "#routing/index.ts";
import type { CallTally } from "../attempt/call-tally.ts";
import { type FetchedBytes, fetchAll } from "../attempt/inline-media.ts";
import type { LaneMatch } from "../attempt/lane-match.ts";
import { madeBy, workOnCall } from "../attempt/work-on-call.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "./translator.ts";

/**
 * One attempt whose upstream speaks another dialect than its caller: requests go out and answers come back through the
 * neutral form. What is small is translated here; what is larger in a thread, as bytes.
 */
export class Translation implements Translator {
  readonly #dependencies: RelayDependencies;
  readonly #call: Call;
  readonly #selection: Selection;
  readonly #match: LaneMatch;
  readonly #tally: CallTally;
  readonly #caller: CallerCodec;
  readonly #upstream: UpstreamCodec;
  readonly #warnings: Warnings;
  /** null: the call is translated in a thread. */
  readonly #turn: Turn | null;
  /** Known from the start, or once the request is translated. */
  #asked: RequestedTurn | null;
  #told = false;
  #tap: TranslatedTap | null = null;

  /** Throws Failure invalid_request when the call's body cannot be understood. */
  constructor(dependencies: RelayDependencies, call: Call, selection: Selection, match: LaneMatch, tally: CallTally) {
    const caller = call.protocol.codec;
    const upstream = upstreamSide(match.lane.dialect).codec;
    if (caller === null || upstream === null || !(call.body instanceof Uint8Array)) {
      throw new Error("a way that cannot be gone");
    }
    this.#dependencies = dependencies;
    this.#call = call;
    this.#selection = selection;
    this.#match = match;
    this.#tally = tally;
    this.#caller = caller;
    this.#upstream = upstream;
    if (call.body.length <= bounds.translateInPlaceBytesMax) tally.turn ??= readTurn(caller, call, call.body, tally);
    this.#turn = tally.turn;
    this.#asked = tally.turn;
    this.#warnings = new Warnings(tally.turnWarnings);
  }

  /** The body for the upstream. Throws Failure unsupported_by_model when it cannot be carried honestly. */
  body(): Uint8Array | Promise<Uint8Array> {
    const turn = this.#turn;
    if (turn === null) return this.#bodyBeside(null);
    const { lane } = this.#match;
    const urls = addressesIn(turn, this.#traits().fetchesUrls, upstreamSide(lane.dialect));
    return urls.length === 0 ? this.#write(turn) : this.#bodyBeside(urls);
  }

  /** In a thread where the body, or what stands at its addresses, is large. `urls` null: nobody has looked for any yet. */
  async #bodyBeside(urls: readonly string[] | null): Promise<Uint8Array> {
    const { facts } = this.#call;
    const { upstreamModel } = this.#selection.deployment;
    const traits = this.#traits();
    const ask = { ...this.#sides(), model: facts.model, stream: facts.stream, upstreamModel, traits, media: null };
    const work = this.#dependencies.bodies;
    let done = urls === null ? await workOnCall(work, this.#call, "translate", ask) : null;
    const wanted = done?.answer.fetch ?? urls ?? [];
    if (done === null || wanted.length > 0) {
      const found = [...(await this.#fetched(wanted))];
      const media = found.map(([url, { mediaType }]) => ({ url, mediaType }));
      const bytes = found.map(([, one]) => one.bytes);
      done = await workOnCall(work, this.#call, "translate", { ...ask, media }, bytes);
    }
    for (const what of done.answer.warnings) this.warn(what);
    this.#asked = readOutline(done.answer.outline);
    return madeBy(done);
  }

  async #fetched(urls: readonly string[]): Promise<ReadonlyMap<string, FetchedBytes>> {
    const { transport, clock } = this.#dependencies;
    const beganMs = clock.monotonic();
    const found = await fetchAll(urls, { transport, signal: this.#call.signal });
    // What others' hosts take is not our own time.
    this.#tally.awayMs += clock.monotonic() - beganMs;
    return found;
  }

  /** An upstream that may not fetch what callers name reads no addresses. */
  #traits(): DialectTraits {
    const { traits, lane } = this.#match;
    const reads = upstreamSide(lane.dialect).takesUrl === null;
    return reads && !mayFetch(this.#selection.deployment.provider) ? { ...traits, fetchesUrls: false } : traits;
  }

  #write(turn: Turn): Uint8Array {
    const { provider, upstreamModel } = this.#selection.deployment;
    const target = {
      upstreamModel,
      account: provider.id,
      traits: this.#traits(),
      newId: this.#newId,
    };
    return this.#upstream.writeTurn(turn, target, this.warn);
  }

  /** A whole reply, as a whole answer or, for a caller that asked for one, as a stream that is already at its end. */
  whole(reply: Uint8Array): TranslatedAnswer | Promise<TranslatedAnswer> {
    if (reply.length > bounds.translateReplyInPlaceBytesMax) return this.#wholeBeside(reply);
    const read = unbroken(this.#upstream.readAnswer(reply, this.#source()));
    const answer = this.#toolNames().answer(read);
    if (!this.#call.facts.stream) {
      return { contentType: "application/json", body: this.#caller.writeAnswer(answer, this.#context()), images: 0 };
    }
    const writer = this.#caller.writeEvents(this.#context());
    let text = "";
    for (const event of answerEvents(answer)) text += writer.write(event);
    return { contentType: streamType, body: encoder.encode(text), images: 0 };
  }

  async #wholeBeside(reply: Uint8Array): Promise<TranslatedAnswer> {
    const { stream, model, wantsUsage } = this.#call.facts;
    const outline = writeOutline(this.#askedTurn());
    const { usage } = this.#match.traits;
    const ask = { ...this.#sides(), outline, model, createdAt: this.#createdAt(), wantsUsage, stream, usage };
    const done = outcomeOf(await this.#dependencies.bodies.do("answer", ask, reply));
    for (const what of done.answer.warnings) this.warn(what);
    return { contentType: stream ? streamType : "application/json", body: madeBy(done), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
    const { dialect } = this.#call.protocol;
    const tap = new TranslatedTap({
      inner,
      reader: this.#upstream,
      writer: this.#caller.writeEvents(this.#context()),
      source: this.#source(),
      toolNames: this.#toolNames(),
      inStream,
      renderError: (failure) => dialect.renderStreamError(failure, this.#call.requestId),
    });
    this.#tap = tap;
    return tap;
  }

  warnings(): string | null {
    this.#told = true;
    return this.#warnings.header();
  }

  get searches(): boolean {
    const { dialect, traits = {} } = this.#match.lane;
    if (dialect !== "openai-chat" || this.#asked?.search === undefined) return false;
    return searchesByOptions(this.#selection.deployment.upstreamModel, traits);
  }

  get warned(): Warnings {
    return this.#warnings;
  }

  /** Once the headers have gone, a warning becomes a comment in the stream. */
  readonly warn = (what: string): void => {
    const said = this.#warnings.add(what);
    if (said !== null && this.#told) this.#tap?.comment(`sluice-warning: ${said}`);
  };

  readonly #newId = (prefix: string): string => this.#dependencies.ids.next(prefix);

  #sides(): { readonly endpoint: CallEndpointId; readonly dialect: WireDialectId; readonly account: string } {
    const { endpoint } = this.#call.protocol;
    return { endpoint, dialect: this.#match.lane.dialect, account: this.#selection.deployment.provider.id };
  }

  #source(): AnswerSource {
    const { provider } = this.#selection.deployment;
    return { account: provider.id, newId: this.#newId, warn: this.warn, usage: this.#match.traits.usage };
  }

  #askedTurn(): RequestedTurn {
    if (this.#asked === null) throw new Error("an answer to a request that was not translated");
    return this.#asked;
  }

  #toolNames(): OwnToolNames {
    return new OwnToolNames(this.#askedTurn().tools);
  }

  #createdAt(): number {
    return Math.floor(this.#dependencies.clock.now() / 1_000);
  }

  #context(): AnswerContext {
    return {
      turn: this.#askedTurn(),
      model: this.#call.facts.model,
      account: this.#selection.deployment.provider.id,
      createdAt: this.#createdAt(),
      now: () => this.#createdAt(),
      wantsUsage: this.#call.facts.wantsUsage,
      newId: this.#newId,
      warn: this.warn,
    };
  }
}

const encoder = new TextEncoder();

function readTurn(caller: CallerCodec, call: Call, body: Uint8Array, tally: CallTally): Turn {
  return caller.readTurn(body, call.facts, (what) => void tally.turnWarnings.add(what));
}
