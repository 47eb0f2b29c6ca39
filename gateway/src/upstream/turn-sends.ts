import { bounds } from "#core/index.ts";

/** Has something to be sent. */
export interface Sender {
  send(): void;
}

/**
 * What this turn of the event loop has to send to upstreams leaves at its end, one behind the other: an upstream on this machine
 * is woken once and finds the rest, and the code that sends is warm.
 */
export class TurnSends {
  #senders: Sender[] = [];

  add(sender: Sender): void {
    const waiting = this.#senders.push(sender);
    if (waiting === 1) setImmediate(this.#sendAll);
    else if (waiting >= bounds.turnSendsMax) this.#sendAll();
  }

  readonly #sendAll = (): void => {
    const senders = this.#senders;
    this.#senders = [];
    for (const sender of senders) sender.send();
  };
}
