import { type Order, orderBody } from "./video-orders.ts";

export interface VideoLoadOptions {
  /** Interchangeable gateways; the attempts of an order go to them in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly orders: readonly Order[];
  /** How long each caller pauses between two orders. */
  readonly pauseMs: number;
  /** The URL to which the end of each task is reported. */
  readonly callbackUrl?: string;
}

/** The answers that callers received for one order, over all attempts. */
export interface PlacedOrder {
  readonly order: Order;
  readonly ids: ReadonlySet<string>;
  /** The statuses of the answers. */
  readonly statuses: readonly number[];
  /** Attempts without an answer, because the gateway was killed or stopped. */
  readonly unanswered: number;
}

interface OrderState {
  readonly order: Order;
  tries: number;
  readonly ids: Set<string>;
  readonly statuses: number[];
  unanswered: number;
}

const timeoutMs = 4_000;
/** Errors after which callers retry soon. They are frequent with a fast clock, which leaves threads and disks little time. */
const retryableCodes = new Set(["draining", "ledger_unavailable", "overloaded", "storage_unavailable"]);

/** Callers that place orders in parallel, each with an Idempotency-Key, and retry until there is an answer. */
export class VideoLoad {
  readonly #options: VideoLoadOptions;
  readonly #orders: readonly OrderState[];
  #next = 0;
  #placed = 0;

  constructor(options: VideoLoadOptions) {
    this.#options = options;
    this.#orders = options.orders.map((order) => ({ order, ids: new Set(), statuses: [], tries: 0, unanswered: 0 }));
  }

  /** How many orders were started. */
  get started(): number {
    return this.#next;
  }

  /** How many orders were answered. */
  get placed(): number {
    return this.#placed;
  }

  async run(callers: number): Promise<void> {
    await Promise.all(Array.from({ length: callers }, () => this.#caller()));
  }

  /** Places every order again, like a caller that lost the answers. */
  async repeat(callers: number): Promise<readonly PlacedOrder[]> {
    const remaining = this.#orders.values();
    const caller = async (): Promise<void> => {
      for (const order of remaining) await this.#place(order);
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return this.#orders;
  }

  async #caller(): Promise<void> {
    for (;;) {
      const order = this.#orders[this.#next];
      if (order === undefined) return;
      this.#next += 1;
      await this.#place(order);
      this.#placed += 1;
      await Bun.sleep(this.#options.pauseMs);
    }
  }

  async #place(state: OrderState): Promise<void> {
    while (!(await this.#try(state))) await Bun.sleep(50);
  }

  /** Resolves to false if there was no answer, or a retryable error. */
  async #try(state: OrderState): Promise<boolean> {
    const { order, ids, statuses } = state;
    const { urls, key, callbackUrl } = this.#options;
    const url = urls[(order.number + state.tries++) % urls.length] ?? "";
    const callback = callbackUrl === undefined ? {} : { callback_url: callbackUrl };
    try {
      const answer = await fetch(`${url}/v1/video/tasks`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${key}`,
          "idempotency-key": `order-${order.number}`,
          "x-sluice-tags": `order=${order.number}`,
        },
        body: JSON.stringify({ ...orderBody(order), ...callback }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const body = (await answer.json()) as { readonly id?: string; readonly error?: { readonly code: string } };
      // A failed task carries the same kind of error in a successful answer, and is not retried.
      if (!answer.ok && retryableCodes.has(body.error?.code ?? "")) return false;
      statuses.push(answer.status);
      if (answer.status === 200 && body.id !== undefined) ids.add(body.id);
      return true;
    } catch {
      state.unanswered += 1;
      return false;
    }
  }
}
