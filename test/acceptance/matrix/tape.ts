import type { Taped } from "./ask.ts";

/** A fetch that keeps every exchange, for SDKs that take one. */
export interface Tape {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly exchanges: readonly Taped[];
  /** The last exchange. */
  last(): Taped;
}

export function createTape(onExchange: (exchange: Taped) => void = () => {}): Tape {
  const exchanges: Taped[] = [];
  return {
    exchanges,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const { body, kept } = keeping(response.body);
      const exchange: Taped = {
        url: input instanceof Request ? input.url : String(input),
        sent: typeof init?.body === "string" ? init.body : "",
        status: response.status,
        headers: response.headers,
        body: kept,
      };
      exchanges.push(exchange);
      onExchange(exchange);
      return new Response(body, { status: response.status, headers: response.headers });
    },
    last() {
      const last = exchanges.at(-1);
      if (last === undefined) throw new Error("nothing was sent");
      return last;
    },
  };
}

function keeping(body: ReadableStream<Uint8Array> | null): { body: ReadableStream | null; kept: () => string } {
  const pieces: Uint8Array[] = [];
  const kept = (): string => Buffer.concat(pieces).toString("utf8");
  if (body === null) return { body: null, kept };
  const listener = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      pieces.push(piece);
      controller.enqueue(piece);
    },
  });
  return { body: body.pipeThrough(listener), kept };
}
