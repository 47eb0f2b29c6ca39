import { bounds, Failure, type HeldMemory, type MemoryOwner } from "#core/index.ts";
import { type CreateFrame, readClientFrame } from "#protocols/index.ts";
import type { ApiDependencies, Exchange } from "../dependencies.ts";
import { type ErrorFrame, failureFrame, type SocketTurn, socketError, socketTurn } from "./socket-turn.ts";
import type { SocketSession, WebSocketLink } from "./sockets.ts";

/** Responses of one WebSocket that are generated at the same time. */
const socketResponsesMax = 16;

interface QueuedFrame {
  readonly frame: CreateFrame;
  readonly place: HeldMemory;
}

/** RFC 6455, 7.4.1, and IANA's registry for 1013. */
const closing = { normal: 1000, goingAway: 1001, unsupportedData: 1003, policy: 1008, tryAgain: 1013 } as const;
/** RFC 6455, 5.5: a control frame holds 125 bytes, two of them the code. */
const reasonCharactersMax = 120;
const keyRefused = "The key cannot be used.";

/**
 * One WebSocket of /v1/responses. Each `response.create` is a normal call, with the same limits and ledger entries. Requests of a lane
 * are answered one after the other, lanes at the same time.
 *
 * open    requests are accepted.
 * ending  requests are ignored; the socket closes after the responses under way.
 * over    the socket has closed.
 */
export class ResponsesSession implements SocketSession {
  readonly #dependencies: ApiDependencies;
  /** The request that became this socket. */
  readonly #exchange: Exchange;
  readonly #call: SocketTurn["call"];
  readonly #socket: WebSocketLink;
  readonly #owner: MemoryOwner;
  readonly #memory: TurnMemory;
  readonly #openedMs: number;
  readonly #closed = new AbortController();
  readonly #queues = new Map<string | null, QueuedFrame[]>();
  readonly #running = new Set<string | null>();
  readonly #lanes = new Set<string>();
  #queued = 0;
  /** When a request last arrived or ended. */
  #usedMs: number;
  #ending: { readonly code: number; readonly reason: string } | null = null;
  #over = false;
  #room: PromiseWithResolvers<void> | null = null;
  #stopWatch: () => void = () => {};

  constructor(exchange: Exchange, call: SocketTurn["call"], socket: WebSocketLink, owner: MemoryOwner) {
    const { dependencies } = exchange;
    this.#dependencies = dependencies;
    this.#exchange = exchange;
    this.#call = call;
    this.#socket = socket;
    this.#owner = owner;
    this.#memory = new TurnMemory(dependencies.memory.open(owner, "conversation"));
    this.#openedMs = this.#usedMs = dependencies.clock.monotonic();
    this.#watch();
  }

  get pending(): number {
    return this.#running.size + this.#queued;
  }

  onText(text: string): void {
    if (this.#over || this.#ending !== null) return;
    this.#usedMs = this.#dependencies.clock.monotonic();
    let lane: string | null = null;
    try {
      if (isTooLarge(text)) throw tooLarge();
      const frame = readClientFrame(text);
      if (frame === null) return;
      if (typeof frame === "string") {
        void this.#send(null, frame);
        return;
      }
      lane = frame.streamId;
      this.#enqueue(frame);
    } catch (thrown) {
      void this.#refuse(lane, failureFrame(thrown, this.#exchange.requestId));
    }
  }

  onBinary(): void {
    this.#end(closing.unsupportedData, "Frames must be text.");
  }

  onRoom(): void {
    this.#room?.resolve();
    this.#room = null;
  }

  onClose(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopWatch();
    this.#closed.abort();
    this.onRoom();
    for (const { place } of [...this.#queues.values()].flat()) place.release();
    this.#queues.clear();
    this.#queued = 0;
    this.#memory.close();
  }

  refuse(failure: Failure): void {
    const error = failureFrame(failure, this.#exchange.requestId);
    void this.#refuse(null, error).then(() => this.#end(closing.tryAgain, failure.message));
  }

  leave(): void {
    this.#end(closing.goingAway, "The gateway is shutting down.");
  }

  #enqueue(frame: CreateFrame): void {
    const { streamId } = frame;
    if (this.#queued >= bounds.socketWaitingMax) {
      throw new Failure("rate_limit_exceeded", "Too many requests are waiting on this WebSocket.");
    }
    if (streamId !== null && !this.#lanes.has(streamId) && this.#lanes.size >= bounds.socketLanesMax) {
      const message = `A WebSocket has at most ${bounds.socketLanesMax} lanes. Open another WebSocket.`;
      this.#send(streamId, socketError(400, "websocket_stream_limit_reached", message));
      return;
    }
    const place = this.#dependencies.memory.open(this.#owner, "request");
    place.hold(frame.size);
    if (streamId !== null) this.#lanes.add(streamId);
    const queue = this.#queues.get(streamId);
    if (queue === undefined) this.#queues.set(streamId, [{ frame, place }]);
    else queue.push({ frame, place });
    this.#queued++;
    this.#next();
  }

  #next(): void {
    for (const [lane, queue] of this.#queues) {
      if (this.#over || this.#running.size >= socketResponsesMax) return;
      if (this.#running.has(lane)) continue;
      const first = queue.shift();
      if (queue.length === 0) this.#queues.delete(lane);
      if (first === undefined) continue;
      this.#queued--;
      this.#running.add(lane);
      void this.#run(first).finally(() => {
        this.#running.delete(lane);
        this.#usedMs = this.#dependencies.clock.monotonic();
        this.#next();
        this.#closeIfIdle();
      });
    }
  }

  /** Never rejects: failures are sent in a frame. */
  async #run({ frame, place }: QueuedFrame): Promise<void> {
    const { streamId: lane, previous } = frame;
    const held = this.#dependencies.memory.open(this.#owner, "event");
    try {
      const before = previous === null ? null : this.#memory.find(previous);
      const send = (text: string): Promise<void> | undefined => this.#send(lane, text);
      const turn = { frame, before, call: this.#call, send, held, signal: this.#closed.signal };
      const end = await socketTurn(this.#exchange, turn);
      if (end === null || this.#over) return;
      if ("status" in end) await this.#refuse(lane, Promise.resolve(end));
      else if (end.id !== null && (previous === null || before !== null)) {
        // Not if the upstream stores the beginning of the conversation: the items here would be only a part of it.
        this.#memory.remember(lane, end.id, [...(before ?? []), frame.items(), ...end.items]);
      }
    } catch (thrown) {
      if (!this.#over) await this.#refuse(lane, failureFrame(thrown, this.#exchange.requestId));
    } finally {
      held.release();
      place.release();
    }
  }

  /** Sends an error, and closes the socket if its key is no longer valid. An upstream may answer with the same status. */
  async #refuse(lane: string | null, error: Promise<ErrorFrame>): Promise<void> {
    const { status, text } = await error;
    await this.#send(lane, text);
    if ((status === 401 || status === 403) && (await this.#keyFailure()) !== null)
      this.#end(closing.policy, keyRefused);
  }

  /** Why the key is no longer valid; null: it is valid, or that cannot be checked now. */
  async #keyFailure(): Promise<Failure | null> {
    try {
      const { request, address } = this.#exchange;
      await this.#dependencies.authenticator.authenticate(request.headers, address);
      return null;
    } catch (thrown) {
      return thrown instanceof Failure && thrown.status < 500 ? thrown : null;
    }
  }

  /** Returns a promise if the next frame has to wait for the reader. */
  #send(lane: string | null, text: string): Promise<void> | undefined {
    if (this.#over) return undefined;
    const tagged = lane === null ? text : `{"stream_id":${JSON.stringify(lane)},${text.slice(1)}`;
    // -1: it was sent, but the next frame has to wait.
    if (this.#socket.send(tagged) !== -1) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#waitForRoom(this.#room.promise);
  }

  async #waitForRoom(room: Promise<void>): Promise<void> {
    // A caller who reads nothing for this long is gone.
    const stop = this.#dependencies.clock.after(bounds.stalledReaderMs, () => {
      this.#socket.terminate();
      this.onClose();
    });
    try {
      await room;
    } finally {
      stop();
    }
  }

  /** Starts no response; the socket closes after the last one under way. */
  #end(code: number, reason: string): void {
    if (this.#over || this.#ending !== null) return;
    this.#ending = { code, reason };
    this.#closeIfIdle();
  }

  #closeIfIdle(): void {
    if (this.#ending === null || this.#over || this.pending > 0) return;
    this.#socket.close(this.#ending.code, this.#ending.reason.slice(0, reasonCharactersMax));
  }

  #watch(): void {
    const { clock } = this.#dependencies;
    this.#stopWatch = clock.after(bounds.socketWatchMs, () => {
      const now = clock.monotonic();
      if (now - this.#openedMs >= bounds.socketLifeMs) this.#endOfLife();
      else if (this.pending === 0 && now - this.#usedMs >= bounds.socketIdleMs) {
        this.#end(closing.normal, "The WebSocket was idle for too long.");
      } else void this.#checkKey();
      if (!this.#over) this.#watch();
    });
  }

  #endOfLife(): void {
    if (this.#ending !== null) return;
    const minutes = bounds.socketLifeMs / 60_000;
    const message = `A WebSocket may be open for ${minutes} minutes. Open a new one.`;
    this.#send(null, socketError(400, "websocket_connection_limit_reached", message));
    this.#end(closing.normal, message);
  }

  async #checkKey(): Promise<void> {
    const failure = await this.#keyFailure();
    if (failure === null || this.#over || this.#ending !== null) return;
    const { text } = await failureFrame(failure, this.#exchange.requestId);
    await this.#send(null, text);
    this.#end(closing.policy, keyRefused);
  }
}

/** Counts characters first, since most frames have few. */
function isTooLarge(text: string): boolean {
  return text.length > bounds.socketFrameBytesMax / 3 && Buffer.byteLength(text) > bounds.socketFrameBytesMax;
}

function tooLarge(): Failure {
  return new Failure(
    "request_too_large",
    `The frame is larger than ${bounds.socketFrameBytesMax} bytes. Use POST /v1/responses, which takes ${bounds.requestBodyBytesMax}.`,
  );
}

/** The remembered conversations of one WebSocket, in characters of JSON. */
const socketMemoryCharactersMax = 16 * 1024 * 1024;

interface Remembered {
  readonly id: string;
  /** JSON texts, each of one or more items. */
  readonly items: readonly string[];
  readonly characters: number;
}

/**
 * The last response of each lane of a socket with the conversation before it, so that the next request can continue it by id. Only
 * responses that no upstream stores. A conversation that does not fit is dropped; its caller then gets an error and sends it whole.
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
    const texts = items.filter((text) => text !== "");
    const characters = texts.reduce((sum, item) => sum + item.length, 0);
    if (characters > bounds.socketLaneCharactersMax) return;
    // Drop the oldest first; a map keeps the order of its keys.
    for (const oldest of this.#lanes.keys()) {
      if (this.#characters + characters <= socketMemoryCharactersMax) break;
      this.#forget(oldest);
    }
    if (this.#held.tryHold(this.#characters + characters) !== null) return;
    this.#characters += characters;
    this.#lanes.set(lane, { id, items: texts, characters });
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
