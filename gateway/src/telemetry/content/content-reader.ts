import { bounds } from "#core/index.ts";
import type { Clock, ContentBodies } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import type { ReadContent } from "./read-content.ts";

interface Waiting {
  readonly bodies: ContentBodies;
  readonly size: number;
  readonly read: (content: ReadContent | null) => void;
}

/** Reads messages beside the event loop, in a thread that is started with the first of them. What it has no room for is not read. */
export class ContentReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #thread: OrderThread<ContentBodies, ReadContent | null>;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #working = false;
  #ended = false;
  #restMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#thread = new OrderThread({
      entry: new URL("./content-worker.ts", import.meta.url),
      name: "content of calls",
      onDeath: () => {
        this.#restMs = clock.monotonic() + bounds.contentRestartMs;
      },
    });
  }

  /** null: it could not be read, or there is no room. Never rejects. */
  read(bodies: ContentBodies): Promise<ReadContent | null> {
    const size = (bodies.request?.text.length ?? 0) + (bodies.response?.text.length ?? 0);
    if (this.#bytes + size > bounds.contentReadBytesMax) return Promise.resolve(null);
    this.#bytes += size;
    const { promise, resolve } = Promise.withResolvers<ReadContent | null>();
    this.#waiting.push({ bodies, size, read: resolve });
    if (!this.#working) void this.#work();
    return promise;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#thread.end();
  }

  async #work(): Promise<void> {
    this.#working = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const rests = this.#ended || this.#clock.monotonic() < this.#restMs;
      const answer = rests ? null : await this.#thread.run(next.bodies);
      this.#bytes -= next.size;
      next.read(answer !== null && "reply" in answer ? answer.reply : null);
    }
    this.#working = false;
  }
}
