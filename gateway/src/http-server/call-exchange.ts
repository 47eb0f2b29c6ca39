import { asFailure, type BodySink, Failure, type LiveBody, type PieceReader } from "#core/index.ts";
import { fieldOf, type RequestHead } from "#http1/index.ts";
import { continueBytes, expectsContinue, fieldLine, linesOf, ServerAnswer } from "./answer.ts";
import { type BodyFlow, CallerRequest } from "./caller-request.ts";
import type { ServerConnection, ServerExchange } from "./server-connection.ts";
import { SocketTunnel, UpgradeAnswer } from "./socket-tunnel.ts";

/** Takes the answer to a call, or an error. One of the two is called, once. */
export interface Reply {
  send(answer: ServerAnswer | Response): void;
  fail(thrown: unknown): void;
}

/** Answers a call, synchronously or later. */
export type AnswerCall = (request: CallerRequest, reply: Reply) => void;

/** A call and its answer. */
export class CallExchange implements ServerExchange, BodyFlow, BodySink, Reply {
  readonly #connection: ServerConnection;
  readonly #head: RequestHead;
  readonly #answer: AnswerCall;
  readonly #request: CallerRequest;
  /** The caller waits for `100 Continue` before it sends its body. */
  #expecting: boolean;
  #gone = false;
  #pieces: PieceReader | null = null;
  /** The streamed body of the answer; null if there is none, or it has ended. */
  #live: LiveBody | null = null;
  /** A piece was requested and has not arrived. */
  #asked = false;
  #asking = false;
  #onRoomy: (() => void) | null = null;
  /** Set when the connection becomes a WebSocket. */
  #tunnel: SocketTunnel | null = null;
  readonly #socketPath: string;

  /** `socketPath`: where the runtime's server takes WebSockets. */
  constructor(connection: ServerConnection, head: RequestHead, answer: AnswerCall, socketPath: string) {
    this.#socketPath = socketPath;
    this.#connection = connection;
    this.#head = head;
    this.#answer = answer;
    this.#expecting = head.minor === 1 && expectsContinue(fieldOf(head.fields, "expect")) === true;
    this.#request = new CallerRequest(head, this, connection);
  }

  start(): void {
    if (!this.#expecting) this.#connection.awaitBody();
    this.#answer(this.#request, this);
  }

  onBody(piece: Uint8Array): void {
    this.#expecting = false;
    this.#request.push(piece);
  }

  onBodyEnd(): void {
    this.#request.finish();
  }

  onMalformed(thrown: unknown): void {
    this.#request.breakOff(new Failure("invalid_request", "The framing of the body is malformed.", { cause: thrown }));
  }

  /** The reader of the body gets the failure and sends the answer. */
  onSlow(): void {
    this.#tunnel?.refuseSlow();
    this.#request.breakOff(new Failure("request_timeout", "The body arrived too slowly."));
  }

  onCallerDone(): void {
    // A whole answer is still sent; a stream is cut.
    if (this.#pieces === null && this.#live === null && this.#tunnel === null) this.#request.abort();
    else this.#connection.cut();
  }

  onSent(): void {
    this.#request.answered(null);
  }

  onGone(slow: boolean): void {
    if (this.#gone) return;
    this.#gone = true;
    const why = slow ? "The caller read its answer too slowly." : "The caller went away before its answer was sent.";
    const failure = new Failure("client_closed", why);
    this.#request.answered(failure);
    this.#request.abort();
    void this.#pieces?.cancel().catch(() => {});
    this.#live?.cancel(slow ? failure : undefined);
    this.#live = null;
    this.#tunnel?.end();
    this.#wake();
  }

  onRoom(): void {
    this.#tunnel?.resume();
    this.#wake();
    this.#ask();
  }

  /** Called by the streamed body. */
  enqueue(piece: Uint8Array): void {
    if (this.#live !== null) this.#connection.answerPiece(piece);
  }

  close(): void {
    if (this.#live === null) return;
    this.#live = null;
    this.#connection.answerEnd();
  }

  error(): void {
    if (this.#live === null) return;
    this.#live = null;
    this.#connection.answerBroken();
  }

  onRaw(bytes: Uint8Array): void {
    this.#tunnel?.send(bytes);
  }

  wanted(): void {
    if (!this.#expecting) return;
    this.#expecting = false;
    this.#connection.raw(continueBytes);
    this.#connection.awaitBody();
  }

  pause(): void {
    this.#connection.input.pause();
  }

  resume(): void {
    this.#connection.input.resume();
  }

  send(answer: ServerAnswer | Response): void {
    if (this.#gone) {
      drop(answer.body);
      if (answer instanceof UpgradeAnswer) answer.onEnd();
      return;
    }
    this.#connection.unread.owner = this.#request.owner;
    if (answer instanceof UpgradeAnswer) {
      this.#tunnel = new SocketTunnel(this.#connection, this.#socketPath, answer);
      return;
    }
    try {
      this.#settleBody();
      if (answer instanceof ServerAnswer) this.#send(answer);
      else this.#sendResponse(answer).catch((thrown: unknown) => this.fail(thrown));
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  fail(thrown: unknown): void {
    this.#request.answered(asFailure(thrown));
    this.#connection.answerBroken();
  }

  #send({ status, headers, body }: ServerAnswer): void {
    const lines = linesOf(headers);
    if (body === null && this.#head.method === "HEAD") {
      // The answer itself may declare the length that a GET would have.
      this.#connection.answerBegin(status, lines, declaredLength(headers["content-length"] ?? null));
      this.#connection.answerEnd();
    } else if (body === null || body instanceof Uint8Array)
      this.#connection.answerWhole(status, lines, body ?? nothing);
    else if (body instanceof ReadableStream) void this.#stream(status, lines, null, body.getReader(), []);
    else if (this.#connection.answerBegin(status, lines, null)) {
      this.#live = body;
      this.#ask();
    } else {
      body.cancel();
      this.#connection.answerEnd();
    }
  }

  /** Pulls pieces while the connection has room. */
  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    while (this.#live !== null && !this.#asked) {
      if (this.#connection.full) this.#connection.flush();
      if (this.#connection.full) break;
      this.#asked = true;
      this.#live.pull(this, this.#pulled);
    }
    this.#asking = false;
  }

  readonly #pulled = (): void => {
    this.#asked = false;
    this.#ask();
  };

  /** A body in memory is sent with its length; a stream is sent piece by piece. */
  async #sendResponse({ status, headers, body }: Response): Promise<void> {
    let lines = "";
    for (const [name, value] of headers) lines += fieldLine(name, value);
    const declared = declaredLength(headers.get("content-length"));
    if (body === null) {
      if (declared === null || this.#head.method !== "HEAD") this.#connection.answerWhole(status, lines, nothing);
      else if (!this.#connection.answerBegin(status, lines, declared)) this.#connection.answerEnd();
      return;
    }
    const pieces = body.getReader();
    this.#pieces = pieces;
    if (declared !== null) return await this.#stream(status, lines, declared, pieces, []);
    try {
      const first = await pieces.read();
      if (first.done) return this.#connection.answerWhole(status, lines, nothing);
      const second = pieces.read();
      const ended = await Promise.race([
        second.then(({ done }) => done),
        new Promise<false>((resolve) => setImmediate(resolve, false)),
      ]);
      if (ended) this.#connection.answerWhole(status, lines, first.value);
      else await this.#stream(status, lines, null, pieces, [first.value], second);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** `first`: pieces that were read already. `reading`: the pending read. */
  async #stream(
    status: number,
    lines: string,
    length: number | null,
    pieces: PieceReader,
    first: readonly Uint8Array[],
    reading?: ReturnType<PieceReader["read"]>,
  ): Promise<void> {
    this.#pieces = pieces;
    const connection = this.#connection;
    if (!connection.answerBegin(status, lines, length)) {
      this.#pieces = null;
      void pieces.cancel().catch(() => {});
      return connection.answerEnd();
    }
    let left = length ?? Number.POSITIVE_INFINITY;
    for (const piece of first) connection.answerPiece(piece);
    try {
      for (let next = reading ?? pieces.read(); ; next = pieces.read()) {
        const piece = await next;
        if (this.#gone) return;
        if (piece.done) break;
        left -= piece.value.length;
        if (left < 0) throw new Error("an answer is longer than its declared length");
        connection.answerPiece(piece.value);
        if (connection.full) await this.#room();
      }
      this.#pieces = null;
      if (length !== null && left > 0) throw new Error("an answer is shorter than its declared length");
      connection.answerEnd();
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  /** The rest of the body is not needed any more. */
  #settleBody(): void {
    this.#request.drop();
    if (this.#expecting && !this.#connection.bodyOver) this.#connection.leave();
  }

  async #room(): Promise<void> {
    this.#connection.flush();
    if (!this.#connection.full || this.#gone) return;
    await new Promise<void>((resolve) => {
      this.#onRoomy = resolve;
    });
  }

  #wake(): void {
    const onRoomy = this.#onRoomy;
    this.#onRoomy = null;
    onRoomy?.();
  }
}

const nothing = new Uint8Array(0);

/** The caller is gone. */
function drop(body: ServerAnswer["body"] | Response["body"]): void {
  if (body instanceof ReadableStream) void body.cancel().catch(() => {});
  else if (body !== null && !(body instanceof Uint8Array)) body.cancel();
}

function declaredLength(header: string | null): number | null {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
