import type { Exchange } from "./call-spec.ts";

/** A fetch function that records every exchange, for SDKs that accept one. */
export interface Recorder {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly exchanges: readonly Exchange[];
  /** The last exchange. */
  last(): Exchange;
}

export function createRecorder(onExchange: (exchange: Exchange) => void = () => {}): Recorder {
  const exchanges: Exchange[] = [];
  return {
    exchanges,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const { body, text } = recordBody(response.body);
      const exchange: Exchange = {
        url: input instanceof Request ? input.url : String(input),
        sent: typeof init?.body === "string" ? init.body : "",
        status: response.status,
        headers: response.headers,
        body: text,
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

function recordBody(body: ReadableStream<Uint8Array> | null): { body: ReadableStream | null; text: () => string } {
  const pieces: Uint8Array[] = [];
  const text = (): string => Buffer.concat(pieces).toString("utf8");
  if (body === null) return { body: null, text };
  const recorder = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      pieces.push(piece);
      controller.enqueue(piece);
    },
  });
  return { body: body.pipeThrough(recorder), text };
}
