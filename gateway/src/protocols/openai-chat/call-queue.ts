import { type AnswerEvent, bounds } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { notCarried, upstreamBroke } from "../errors/upstream-errors.ts";
import { plainName } from "../turn/tool-calls.ts";
import type { CallPiece } from "./answer-pieces.ts";
import { signatureSeal } from "./read-answer.ts";

interface QueuedCall {
  id: string;
  name: string;
  signature: string | null;
  open: boolean;
  /** Some of the arguments were emitted that is not blank. */
  begun: boolean;
  closed: boolean;
  held: string[];
}

/**
 * Puts the interleaved pieces of parallel tool calls in order: the first call streams, the others are held until it
 * ends. Nobody says that a call has ended before the answer goes on to something else, or to its end.
 */
export class CallQueue {
  /** Calls seen so far, closed ones included. */
  count = 0;
  readonly #emit: (event: AnswerEvent) => void;
  readonly #source: AnswerSource;
  readonly #byIndex = new Map<number, QueuedCall>();
  #waiting: QueuedCall[] = [];
  #last: QueuedCall | null = null;
  #held = 0;

  constructor(emit: (event: AnswerEvent) => void, source: AnswerSource) {
    this.#emit = emit;
    this.#source = source;
  }

  get busy(): boolean {
    return this.#waiting.length > 0;
  }

  add(piece: CallPiece): void {
    const call = this.#find(piece) ?? this.#begin(piece.index);
    if (call.closed) {
      if (piece.argumentsText === "") return;
      throw upstreamBroke("The upstream went on with a tool call after it had ended.");
    }
    if (call.id === "") call.id = piece.id;
    if (call.name === "") call.name = piece.name;
    if (piece.signature !== null) call.signature = piece.signature;
    if (call === this.#waiting[0] && !call.open && call.name !== "") this.#open(call);
    if (piece.argumentsText === "") return;
    if (call.open) this.#say(call, piece.argumentsText);
    else this.#hold(call, piece.argumentsText);
  }

  /** Ends every call that waits, in the order in which they began. */
  flush(): void {
    for (const call of this.#waiting) {
      call.closed = true;
      if (call.name === "" && call.held.length === 0) continue;
      if (call.name === "") throw upstreamBroke("The upstream called a tool without naming it.");
      if (!call.open) this.#open(call);
      if (!call.begun) this.#say(call, "{}");
      const { signature } = call;
      if (signature !== null) {
        this.#emit({ kind: "block-seal", seal: signatureSeal(signature, this.#source.account) });
      }
      this.#emit({ kind: "block-end" });
    }
    this.#waiting = [];
    this.#held = 0;
  }

  /** The call that a piece continues; null when it begins one. */
  #find(piece: CallPiece): QueuedCall | null {
    if (piece.index === null && piece.id === "") return piece.name === "" ? this.#last : null;
    const call =
      piece.index === null ? this.#waiting.find((waiting) => waiting.id === piece.id) : this.#byIndex.get(piece.index);
    if (call === undefined) return null;
    // Some vendors send every call under index 0: another name, or another id beside a name, is another call.
    const renamed = piece.name !== "" && call.name !== "" && piece.name !== call.name;
    const reissued = piece.name !== "" && piece.id !== "" && call.id !== "" && piece.id !== call.id;
    return renamed || reissued ? null : call;
  }

  #begin(index: number | null): QueuedCall {
    this.count++;
    if (this.count > bounds.answerCallsMax) throw notCarried("The upstream called too many tools at once.");
    const call: QueuedCall = { id: "", name: "", signature: null, open: false, begun: false, closed: false, held: [] };
    if (index !== null) this.#byIndex.set(index, call);
    this.#waiting.push(call);
    this.#last = call;
    return call;
  }

  #hold(call: QueuedCall, text: string): void {
    this.#held += text.length;
    if (this.#held > bounds.heldArgumentsCharactersMax) throw notCarried("The upstream's tool calls are too long.");
    call.held.push(text);
  }

  #open(call: QueuedCall): void {
    call.open = true;
    if (call.id === "") call.id = this.#source.newId("call_");
    this.#emit({ kind: "block-start", block: { kind: "tool-call", id: call.id, name: plainName(call.name) } });
    if (call.held.length > 0) this.#say(call, call.held.join(""));
    call.held = [];
  }

  #say(call: QueuedCall, text: string): void {
    call.begun ||= text.trim() !== "";
    this.#emit({ kind: "block-delta", text });
  }
}
