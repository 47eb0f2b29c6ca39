import { type Order, orderBody } from "./video-orders.ts";

export interface VideoLoadOptions {
  /** Of gateways that serve alike: the tries of an order go to them in turn. */
  readonly urls: readonly string[];
  readonly key: string;
  readonly orders: readonly Order[];
  /** How long each caller rests between two orders. */
  readonly pauseMs: number;
  /** Where callers want to be told of each end. */
  readonly callbackUrl?: string;
}

/** What callers were told of one order, over all tries. */
export interface Placed {
  readonly order: Order;
  readonly ids: ReadonlySet<string>;
  /** Of the answers that came. */
  readonly statuses: readonly number[];
  /** Tries without an answer: the gateway died, or stood still. */
  readonly unanswered: number;
}

interface Placing {
  readonly order: Order;
  tries: number;
  readonly ids: Set<string>;
  readonly statuses: number[];
  unanswered: number;
}

const impatienceMs = 4_000;
/** Threads and disks are given a twentieth of their time by a fast clock. */
const comeBackSoon = new Set(["draining", "ledger_unavailable", "overloaded", "storage_unavailable"]);

/** Callers that place orders side by side, each under its own Idempotency-Key, and try again until somebody answers. */
export class VideoLoad {
  readonly #options: VideoLoadOptions;
  readonly #placings: readonly Placing[];
  #next = 0;
  #placed = 0;

  constructor(options: VideoLoadOptions) {
    this.#options = options;
    this.#placings = options.orders.map((order) => ({ order, ids: new Set(), statuses: [], tries: 0, unanswered: 0 }));
  }

  /** How many orders somebody has begun to place. */
  get begun(): number {
    return this.#next;
  }

  /** How many have their answer. */
  get placed(): number {
    return this.#placed;
  }

  async run(callers: number): Promise<void> {
    await Promise.all(Array.from({ length: callers }, () => this.#caller()));
  }

  /** Places every order once more, as a caller that lost its answers would. */
  async repeat(callers: number): Promise<readonly Placed[]> {
    const left = this.#placings.values();
    const lane = async (): Promise<void> => {
      for (const placing of left) await this.#place(placing);
    };
    await Promise.all(Array.from({ length: callers }, lane));
    return this.#placings;
  }

  async #caller(): Promise<void> {
    for (;;) {
      const placing = this.#placings[this.#next];
      if (placing === undefined) return;
      this.#next += 1;
      await this.#place(placing);
      this.#placed += 1;
      await Bun.sleep(this.#options.pauseMs);
    }
  }

  async #place(placing: Placing): Promise<void> {
    while (!(await this.#try(placing))) await Bun.sleep(50);
  }

  /** False when nobody answered, or not yet. */
  async #try(placing: Placing): Promise<boolean> {
    const { order, ids, statuses } = placing;
    const { urls, key, callbackUrl } = this.#options;
    const url = urls[(order.number + placing.tries++) % urls.length] ?? "";
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
        signal: AbortSignal.timeout(impatienceMs),
      });
      const told = (await answer.json()) as { readonly id?: string; readonly error?: { readonly code: string } };
      // Whoever is told to come back soon does. A task that has failed says why in the same words, and is an answer.
      if (!answer.ok && comeBackSoon.has(told.error?.code ?? "")) return false;
      statuses.push(answer.status);
      if (answer.status === 200 && told.id !== undefined) ids.add(told.id);
      return true;
    } catch {
      placing.unanswered += 1;
      return false;
    }
  }
}
