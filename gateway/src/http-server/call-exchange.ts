import { asFailure, type BodySink, Failure, type LiveBody, type PieceReader } from "#core/index.ts";
import type { RequestHead } from "#http1/index.ts";
import { linesOf, ServerAnswer } from "./answer.ts";
import { CallerRequest } from "./caller-request.ts";
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
export class CallExchange implements ServerExchange, BodySink, Reply {
  readonly request: CallerRequest;
  readonly #connection: ServerConnection;
  readonly #isHead: boolean;
  readonly #answer: AnswerCall;
  #gone = false;
  /** The streamed body of the answer; null if there is none, or it has ended. */
  #live: LiveBody | null = null;
  /** A piece was requested and has not arrived. */
  #asked = false;
  #asking = false;
  /** Called when a requested piece has arrived. Set with a streamed body. */
  #onPulled = ignore;
  /** Set when the connection becomes a WebSocket. */
  #tunnel: SocketTunnel | null = null;

  constructor(connection: ServerConnection, head: RequestHead, answer: AnswerCall) {
    this.#connection = connection;
    this.#isHead = head.method === "HEAD";
    this.#answer = answer;
    this.request = new CallerRequest(head, connection);
  }

  start(): void {
    if (!this.request.expecting) this.#connection.awaitBody();
    this.#answer(this.request, this);
  }

  /** The reader of the body gets the failure and sends the answer. */
  onSlow(): void {
    this.#tunnel?.refuseSlow();
    this.request.breakOff(new Failure("request_timeout", "The body arrived too slowly."));
  }

  onCallerDone(): void {
    // A whole answer is still sent; a stream is cut.
    if (this.#live === null && this.#tunnel === null) this.request.abort();
    else this.#connection.cut();
  }

  onSent(): void {
    this.request.answered(null);
  }

  onGone(slow: boolean): void {
    if (this.#gone) return;
    this.#gone = true;
    const why = slow ? "The caller read its answer too slowly." : "The caller went away before its answer was sent.";
    const failure = new Failure("client_closed", why);
    this.request.answered(failure);
    this.request.abort();
    this.#live?.cancel(slow ? failure : undefined);
    this.#live = null;
    this.#tunnel?.end();
  }

  onRoom(): void {
    this.#tunnel?.resume();
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

  error(thrown: unknown): void {
    if (this.#live === null) return;
    this.#live = null;
    this.fail(thrown);
  }

  onRaw(bytes: Uint8Array): void {
    this.#tunnel?.send(bytes);
  }

  send(answer: ServerAnswer | Response): void {
    if (this.#gone) {
      drop(answer.body);
      if (answer instanceof UpgradeAnswer) answer.onEnd();
      return;
    }
    this.#connection.unread.owner = this.request.owner;
    if (answer instanceof UpgradeAnswer) {
      this.#tunnel = new SocketTunnel(this.#connection, answer);
      return;
    }
    try {
      this.#settleBody();
      if (answer instanceof ServerAnswer) this.#send(answer);
      else this.#sendResponse(answer);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  fail(thrown: unknown): void {
    this.request.answered(asFailure(thrown));
    this.#connection.answerBroken();
  }

  #send({ status, headers, body }: ServerAnswer): void {
    const lines = linesOf(headers);
    if (body === null && this.#isHead) this.#sendBodyless(status, lines, declaredLength(headers["content-length"]));
    else if (body === null || body instanceof Uint8Array) this.#connection.answerWhole(status, lines, body ?? nothing);
    else this.#stream(status, lines, null, body instanceof ReadableStream ? new StreamedBody(body, null) : body);
  }

  #sendResponse({ status, headers, body }: Response): void {
    const lines = linesOf(headers);
    const declared = declaredLength(headers.get("content-length"));
    if (body !== null && declared !== null) this.#stream(status, lines, declared, new StreamedBody(body, declared));
    else if (body !== null) void this.#sendUnmeasured(status, lines, body);
    else if (declared !== null && this.#isHead) this.#sendBodyless(status, lines, declared);
    else this.#connection.answerWhole(status, lines, nothing);
  }

  /** The answer to HEAD may declare the length that a GET would have. */
  #sendBodyless(status: number, lines: string[], length: number | null): void {
    this.#connection.answerBegin(status, lines, length);
    this.#connection.answerEnd();
  }

  /** A body in memory is one piece, and its end is there at once: it is sent with its length. */
  async #sendUnmeasured(status: number, lines: string[], body: ReadableStream<Uint8Array>): Promise<void> {
    const live = new StreamedBody(body, null);
    this.#live = live;
    this.#asked = true;
    try {
      const whole = await live.whole();
      // The caller has left.
      if (this.#live === null) return;
      this.#live = null;
      this.#asked = false;
      if (whole === null) this.#stream(status, lines, null, live);
      else this.#connection.answerWhole(status, lines, whole);
    } catch (thrown) {
      this.error(thrown);
    }
  }

  #stream(status: number, lines: string[], length: number | null, body: LiveBody): void {
    if (this.#connection.answerBegin(status, lines, length)) {
      this.#live = body;
      this.#onPulled = () => {
        this.#asked = false;
        this.#ask();
      };
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
      this.#live.pull(this, this.#onPulled);
    }
    this.#asking = false;
  }

  /** The rest of the body is not needed any more. */
  #settleBody(): void {
    this.request.drop();
    if (this.request.expecting && !this.#connection.bodyOver) this.#connection.leave();
  }
}

const nothing = new Uint8Array(0);
const ignore = (): void => {};

/** A stream of the runtime. */
class StreamedBody implements LiveBody {
  readonly #reader: PieceReader;
  /** Reads that `whole` began. */
  readonly #ahead: ReturnType<PieceReader["read"]>[] = [];
  #left: number;

  /** `length`: as declared; null if unknown. */
  constructor(stream: ReadableStream<Uint8Array>, length: number | null) {
    this.#reader = stream.getReader();
    this.#left = length ?? Number.POSITIVE_INFINITY;
  }

  /** The body if it has at most one piece and its end is there at once; else null, and nothing is taken. */
  async whole(): Promise<Uint8Array | null> {
    const first = this.#reader.read();
    const { done, value } = await first;
    if (done) return nothing;
    const second = this.#reader.read();
    this.#ahead.push(first, second);
    const isEnd = second.then((piece) => piece.done);
    return (await Promise.race([isEnd, new Promise<false>((resolve) => setImmediate(resolve, false))])) ? value : null;
  }

  pull(sink: BodySink, answered: () => void): void {
    void this.#pull(sink).then(answered);
  }

  async #pull(sink: BodySink): Promise<void> {
    try {
      const { done, value } = await (this.#ahead.shift() ?? this.#reader.read());
      this.#left -= done ? 0 : value.length;
      if (this.#left < 0) throw new Error("an answer is longer than its declared length");
      if (!done) sink.enqueue(value);
      else if (this.#left > 0 && this.#left !== Number.POSITIVE_INFINITY)
        throw new Error("an answer is shorter than its declared length");
      else sink.close();
    } catch (thrown) {
      sink.error(thrown);
    }
  }

  cancel(): void {
    void this.#reader.cancel().catch(() => {});
  }
}

/** The caller is gone. */
function drop(body: ServerAnswer["body"] | Response["body"]): void {
  if (body instanceof ReadableStream) void body.cancel().catch(() => {});
  else if (body !== null && !(body instanceof Uint8Array)) body.cancel();
}

function declaredLength(header: string | null | undefined): number | null {
  return header && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
