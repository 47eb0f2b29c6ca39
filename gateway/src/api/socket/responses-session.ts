import { bounds, Failure, type HeldMemory, type MemoryOwner } from "#core/index.ts";
import { type CreateFrame, readClientFrame } from "#protocols/index.ts";
import type { ApiDependencies, Exchange } from "../dependencies.ts";
import type { SocketLink, SocketSession } from "./socket-link.ts";
import { type ErrorFrame, failureFrame, type SocketTurn, socketError, socketTurn } from "./socket-turn.ts";

/** Responses of one WebSocket that are under way. */
const socketResponsesMax = 16;

interface Waiting {
  readonly frame: CreateFrame;
  readonly place: HeldMemory;
}

/** RFC 6455, 7.4.1, and IANA's registry for 1013. */
const closing = { normal: 1000, leaving: 1001, unreadable: 1003, unwelcome: 1008, again: 1013 } as const;

/**
 * One WebSocket of /v1/responses. Each `response.create` is a call like any other: governed, recorded and answered by the
 * same relay. Requests of a lane wait for each other, lanes do not.
 */
export class ResponsesSession implements SocketSession {
  readonly #dependencies: ApiDependencies;
  /** The request that became this socket. */
  readonly #exchange: Exchange;
  readonly #call: SocketTurn["call"];
  readonly #link: SocketLink;
  readonly #owner: MemoryOwner;
  readonly #onOver: () => void;
  readonly #memory: TurnMemory;
  readonly #openedMs: number;
  readonly #gone = new AbortController();
  readonly #waiting = new Map<string | null, Waiting[]>();
  readonly #running = new Set<string | null>();
  readonly #lanes = new Set<string>();
  #waits = 0;
  #quietMs: number;
  #ending: { readonly code: number; readonly reason: string } | null = null;
  #over = false;
  #room: PromiseWithResolvers<void> | null = null;
  #stopWatch: () => void = () => {};

  /** `onOver` is called once, when the socket has closed. */
  constructor(
    dependencies: ApiDependencies,
    exchange: Exchange,
    call: SocketTurn["call"],
    link: SocketLink,
    owner: MemoryOwner,
    onOver: () => void,
  ) {
    this.#dependencies = dependencies;
    this.#exchange = exchange;
    this.#call = call;
    this.#link = link;
    this.#owner = owner;
    this.#onOver = onOver;
    this.#memory = new TurnMemory(dependencies.memory.open(owner, "conversation"));
    this.#openedMs = this.#quietMs = dependencies.clock.monotonic();
    this.#watch();
  }

  get pending(): number {
    return this.#running.size + this.#waits;
  }

  onText(text: string): void {
    if (this.#over || this.#ending !== null) return;
    this.#quietMs = this.#dependencies.clock.monotonic();
    let lane: string | null = null;
    try {
      if (isTooLarge(text)) throw tooLarge();
      const frame = readClientFrame(text);
      if (frame === null) return;
      if (typeof frame === "string") {
        void this.#say(null, frame);
        return;
      }
      lane = frame.streamId;
      this.#queue(frame);
    } catch (thrown) {
      void this.#refuse(lane, failureFrame(thrown, this.#exchange.requestId));
    }
  }

  onBinary(): void {
    this.#end(closing.unreadable, "Frames must be text.");
  }

  onRoom(): void {
    this.#room?.resolve();
    this.#room = null;
  }

  onClose(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWatch();
    this.#gone.abort();
    this.onRoom();
    for (const { place } of [...this.#waiting.values()].flat()) place.release();
    this.#waiting.clear();
    this.#waits = 0;
    this.#memory.close();
    this.#onOver();
  }

  refuse(failure: Failure): void {
    const told = failureFrame(failure, this.#exchange.requestId);
    void this.#refuse(null, told).then(() => this.#end(closing.again, failure.message));
  }

  leave(): void {
    this.#end(closing.leaving, "The gateway is shutting down.");
  }

  #queue(frame: CreateFrame): void {
    const { streamId } = frame;
    if (this.#waits >= bounds.socketWaitingMax) {
      throw new Failure("rate_limit_exceeded", "Too many requests wait on this WebSocket for the ones before them.");
    }
    if (streamId !== null && !this.#lanes.has(streamId) && this.#lanes.size >= bounds.socketLanesMax) {
      const message = `A WebSocket has at most ${bounds.socketLanesMax} lanes; open another one.`;
      this.#say(streamId, socketError(400, "websocket_stream_limit_reached", message));
      return;
    }
    const place = this.#dependencies.memory.open(this.#owner, "request");
    place.hold(frame.size);
    if (streamId !== null) this.#lanes.add(streamId);
    const waiting = this.#waiting.get(streamId);
    if (waiting === undefined) this.#waiting.set(streamId, [{ frame, place }]);
    else waiting.push({ frame, place });
    this.#waits++;
    this.#next();
  }

  #next(): void {
    for (const [lane, waiting] of this.#waiting) {
      if (this.#over || this.#running.size >= socketResponsesMax) return;
      if (this.#running.has(lane)) continue;
      const first = waiting.shift();
      if (waiting.length === 0) this.#waiting.delete(lane);
      if (first === undefined) continue;
      this.#waits--;
      this.#running.add(lane);
      void this.#run(first).finally(() => {
        this.#running.delete(lane);
        this.#quietMs = this.#dependencies.clock.monotonic();
        this.#next();
        this.#endIfCalm();
      });
    }
  }

  /** Never rejects: what goes wrong is told in a frame. */
  async #run({ frame, place }: Waiting): Promise<void> {
    const { streamId: lane, previous } = frame;
    const held = this.#dependencies.memory.open(this.#owner, "event");
    try {
      const before = previous === null ? null : this.#memory.find(previous);
      const send = (text: string): Promise<void> | undefined => this.#say(lane, text);
      const turn = { frame, before, call: this.#call, send, held, signal: this.#gone.signal };
      const end = await socketTurn(this.#dependencies, this.#exchange, turn);
      if (end === null || this.#over) return;
      if ("status" in end) await this.#refuse(lane, Promise.resolve(end));
      else if (end.id !== null && (previous === null || before !== null)) {
        // What an upstream keeps of the conversation is not here: a part of it would be taken for the whole.
        this.#memory.remember(lane, end.id, [...(before ?? []), frame.items(), ...end.items]);
      }
    } catch (thrown) {
      if (!this.#over) await this.#refuse(lane, failureFrame(thrown, this.#exchange.requestId));
    } finally {
      held.release();
      place.release();
    }
  }

  /** A key that may not be used any more has no use for a socket either. An upstream may refuse in the same words. */
  async #refuse(lane: string | null, told: Promise<ErrorFrame>): Promise<void> {
    const { status, text } = await told;
    await this.#say(lane, text);
    if ((status === 401 || status === 403) && (await this.#unwelcome()) !== null) this.#endUnwelcome();
  }

  /** Why its key may not be used any more; null: it may, or nobody knows. */
  async #unwelcome(): Promise<Failure | null> {
    try {
      const { request, address } = this.#exchange;
      await this.#dependencies.authenticator.authenticate(request.headers, address);
      return null;
    } catch (thrown) {
      return thrown instanceof Failure && thrown.status < 500 ? thrown : null;
    }
  }

  #endUnwelcome(): void {
    this.#end(closing.unwelcome, "The key cannot be used.");
  }

  /** A promise where the next frame has to wait for the reader. */
  #say(lane: string | null, text: string): Promise<void> | undefined {
    if (this.#over) return undefined;
    const tagged = lane === null ? text : `{"stream_id":${JSON.stringify(lane)},${text.slice(1)}`;
    if (this.#link.send(tagged) !== "full") return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#untilRoom(this.#room.promise);
  }

  async #untilRoom(room: Promise<void>): Promise<void> {
    // Who reads nothing for so long is gone.
    const stop = this.#dependencies.clock.after(bounds.stalledReaderMs, () => this.#cut());
    try {
      await room;
    } finally {
      stop();
    }
  }

  #cut(): void {
    this.#link.cut();
    this.onClose();
  }

  /** Nothing new is begun; the socket closes with the last response that is under way. */
  #end(code: number, reason: string): void {
    if (this.#over || this.#ending !== null) return;
    this.#ending = { code, reason };
    this.#endIfCalm();
  }

  #endIfCalm(): void {
    if (this.#ending === null || this.#over || this.pending > 0) return;
    this.#link.close(this.#ending.code, this.#ending.reason);
  }

  #watch(): void {
    const { clock } = this.#dependencies;
    this.#stopWatch = clock.after(bounds.socketWatchMs, () => {
      const now = clock.monotonic();
      if (now - this.#openedMs >= bounds.socketLifeMs) this.#endOfLife();
      else if (this.pending === 0 && now - this.#quietMs >= bounds.socketIdleMs) {
        this.#end(closing.normal, "Nothing was asked for a long time.");
      } else void this.#checkKey();
      if (!this.#over) this.#watch();
    });
  }

  #endOfLife(): void {
    if (this.#ending !== null) return;
    const minutes = bounds.socketLifeMs / 60_000;
    const message = `A WebSocket may be open for ${minutes} minutes. Open a new one to go on.`;
    this.#say(null, socketError(400, "websocket_connection_limit_reached", message));
    this.#end(closing.normal, message);
  }

  async #checkKey(): Promise<void> {
    const failure = await this.#unwelcome();
    if (failure === null || this.#over || this.#ending !== null) return;
    const { text } = await failureFrame(failure, this.#exchange.requestId);
    await this.#say(null, text);
    this.#endUnwelcome();
  }
}

/** Characters are counted first: most frames have too few to be as many bytes. */
function isTooLarge(text: string): boolean {
  return text.length > bounds.socketFrameBytesMax / 3 && Buffer.byteLength(text) > bounds.socketFrameBytesMax;
}

function tooLarge(): Failure {
  return new Failure(
    "request_too_large",
    `The frame is larger than ${bounds.socketFrameBytesMax} bytes. Send the same to POST /v1/responses, which takes ${bounds.requestBodyBytesMax}.`,
  );
}

/** What is remembered of the conversations of one WebSocket, in characters of JSON. */
const socketMemoryCharactersMax = 16 * 1024 * 1024;

interface Remembered {
  readonly id: string;
  /** Pieces of JSON text, each of one item or more. */
  readonly items: readonly string[];
  readonly characters: number;
}

/**
 * The last response of each lane of one socket, with all that came before it, for whoever goes on from it by its id: what
 * no upstream keeps. What does not fit is not remembered; its caller is then told so, and sends it whole.
 */
class TurnMemory {
  readonly #held: HeldMemory;
  readonly #lanes = new Map<string | null, Remembered>();
  #characters = 0;

  constructor(held: HeldMemory) {
    this.#held = held;
  }

  find(id: string): readonly string[] | null {
    for (const remembered of this.#lanes.values()) if (remembered.id === id) return remembered.items;
    return null;
  }

  remember(lane: string | null, id: string, items: readonly string[]): void {
    this.#forget(lane);
    const said = items.filter((text) => text !== "");
    const characters = said.reduce((sum, item) => sum + item.length, 0);
    if (characters > bounds.socketLaneCharactersMax) return;
    // What was said last is worth most; a map keeps the order of its keys.
    for (const oldest of this.#lanes.keys()) {
      if (this.#characters + characters <= socketMemoryCharactersMax) break;
      this.#forget(oldest);
    }
    if (this.#held.tryHold(this.#characters + characters) !== null) return;
    this.#characters += characters;
    this.#lanes.set(lane, { id, items: said, characters });
  }

  close(): void {
    for (const lane of [...this.#lanes.keys()]) this.#forget(lane);
  }

  #forget(lane: string | null): void {
    const remembered = this.#lanes.get(lane);
    if (remembered === undefined) return;
    this.#lanes.delete(lane);
    this.#characters -= remembered.characters;
    this.#held.keep(this.#characters);
  }
}
