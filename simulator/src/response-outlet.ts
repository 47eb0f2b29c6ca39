import type { HeaderRow, Outlet } from "./outlet.ts";

/** An outlet whose answer is a Response in this process. Nothing is produced before the reader wants it. */
export function createResponseOutlet(signal: AbortSignal): {
  readonly outlet: Outlet;
  readonly response: Promise<Response>;
} {
  const { promise: response, resolve, reject } = Promise.withResolvers<Response>();
  const outlet = new ResponseOutlet(resolve, reject);
  if (signal.aborted) outlet.leave();
  else signal.addEventListener("abort", () => outlet.leave(), { once: true });
  return { outlet, response };
}

class ResponseOutlet implements Outlet {
  closed = false;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: Error) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #gone: () => void = () => {};
  #pulled: (() => void) | null = null;
  /** True while the reader waits for the next piece. */
  #readerWaits = false;

  constructor(resolve: (response: Response) => void, reject: (reason: Error) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onGone(act: () => void): void {
    if (this.closed) act();
    else this.#gone = act;
  }

  head(status: number, headers: readonly HeaderRow[], length: number | null): void {
    if (this.closed) return;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.leave(),
      },
      { highWaterMark: 0 },
    );
    const rows = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
    if (length !== null) rows.set("content-length", String(length));
    this.#resolve(new Response(body, { status, headers: rows }));
  }

  write(bytes: Uint8Array): Promise<void> | null {
    if (this.closed || this.#controller === null) return null;
    const readerWaited = this.#readerWaits;
    this.#readerWaits = false;
    this.#controller.enqueue(new Uint8Array(bytes));
    if (readerWaited) return null;
    return new Promise((resolve) => {
      this.#pulled = resolve;
    });
  }

  end(): Promise<void> | null {
    if (this.closed) return null;
    this.closed = true;
    this.#controller?.close();
    this.#wake();
    return null;
  }

  whole(status: number, headers: readonly HeaderRow[], body: string): Promise<void> | null {
    if (this.closed) return null;
    this.closed = true;
    const rows = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
    const empty = status === 204 || status === 304;
    this.#resolve(new Response(empty ? null : body, { status, headers: rows }));
    return null;
  }

  raw(bytes: Uint8Array): void {
    if (this.#controller !== null) void this.write(bytes);
  }

  cut(): void {
    this.#break("the connection was closed");
  }

  reset(): void {
    this.#break("the connection was reset");
  }

  /** The reader has disconnected. */
  leave(): void {
    if (this.closed) return;
    this.#break("the caller disconnected");
    this.#gone();
  }

  #break(reason: string): void {
    if (this.closed) return;
    this.closed = true;
    const error = new Error(reason);
    if (this.#controller === null) this.#reject(error);
    else this.#fail(this.#controller, error);
    this.#wake();
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, error: Error): void {
    try {
      controller.error(error);
    } catch {
      // The reader has already canceled the stream.
    }
  }

  #pull(): void {
    this.#readerWaits = true;
    this.#wake();
  }

  #wake(): void {
    const pulled = this.#pulled;
    this.#pulled = null;
    pulled?.();
  }
}
