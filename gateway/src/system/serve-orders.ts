import { type MessagePort, parentPort, type Transferable } from "node:worker_threads";
import { standBack } from "./stand-back.ts";
import { endOrder, type OrderAnswer } from "./thread-messages.ts";

export interface OrderProgram<Order, Reply> {
  readonly work: (order: Order) => Reply | Promise<Reply>;
  /** Which buffers of a reply are moved, not copied. */
  readonly moved?: (reply: Reply) => Transferable[];
  /** Lets go of what it holds, at its end. */
  readonly close?: () => Promise<void>;
}

/**
 * Makes this thread one of an OrderThread's: each message is an order, each answer its reply. For entry points of threads;
 * anywhere else it does nothing.
 */
export function serveOrders<Order, Reply>(program: OrderProgram<Order, Reply>): void {
  if (parentPort === null) return;
  standBack(niceness);
  listen(parentPort, program);
}

function listen<Order, Reply>(port: MessagePort, { work, moved, close }: OrderProgram<Order, Reply>): void {
  const done = (reply: Reply): void => port.postMessage({ reply } satisfies OrderAnswer<Reply>, moved?.(reply) ?? none);
  const failed = (thrown: unknown): void => port.postMessage({ failed: wordsOf(thrown) } satisfies OrderAnswer<Reply>);
  port.on("message", (order: Order | typeof endOrder) => {
    if (order === endOrder) {
      void (close?.() ?? Promise.resolve()).catch(() => undefined).finally(() => port.close());
      return;
    }
    try {
      const reply = work(order);
      if (reply instanceof Promise) reply.then(done).catch(failed);
      else done(reply);
    } catch (thrown) {
      failed(thrown);
    }
  });
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : typeof thrown;
}

const niceness = 5;
const none: Transferable[] = [];
