import { type HeadLimits, MalformedMessage, type RequestHead, RequestReader, ResponseReader } from "#http1/index.ts";

/** One message read from a connection. */
interface ReadMessage {
  readonly start: string;
  readonly fields: readonly string[];
  readonly body: string;
  readonly whole: boolean;
}

export interface ReadAll {
  readonly messages: readonly ReadMessage[];
  /** Why the rest was refused. */
  readonly refused: string | null;
  /** The message is incomplete. */
  readonly waiting: boolean;
}

const usualLimits: HeadLimits = { headBytesMax: 16 * 1024, fieldsMax: 100 };

interface Reading {
  start: string;
  fields: readonly string[];
  body: string;
  whole: boolean;
}

/** Reads requests, or responses to `method`, in chunks that start at `cuts`. */
export function readMessages(
  text: string,
  {
    method,
    cuts = [],
    limits = usualLimits,
  }: { readonly method?: string; readonly cuts?: readonly number[]; readonly limits?: HeadLimits } = {},
): ReadAll {
  const messages: Reading[] = [];
  const begin = (start: string, fields: readonly string[]) =>
    void messages.push({ start, fields, body: "", whole: false });
  const last = (): Reading => messages.at(-1) ?? { start: "", fields: [], body: "", whole: false };
  const sink = {
    onBody: (piece: Uint8Array) => {
      last().body += Buffer.from(piece).toString("latin1");
    },
    onEnd: () => {
      last().whole = true;
    },
  };
  const reader =
    method === undefined
      ? new RequestReader(limits, {
          ...sink,
          onHead: (head: RequestHead) =>
            begin(`${head.method} ${head.target} 1.${head.minor}`, head.headers.list().flat()),
        })
      : new ResponseReader(limits, {
          ...sink,
          onHead: (head) => begin(String(head.status), head.headers.list().flat()),
        });
  const next = () => (reader instanceof ResponseReader ? reader.begin(method ?? "") : reader.begin());
  next();
  const bytes = Buffer.from(text, "latin1");
  const edges = [0, ...[...cuts].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b), bytes.length];
  try {
    for (let index = 0; index + 1 < edges.length; index++) {
      const piece = bytes.subarray(edges[index], edges[index + 1]);
      for (let at = 0; at < piece.length; ) {
        // Between two messages, the next one begins.
        if (messages.at(-1)?.whole === true && reader.untouched) next();
        at += reader.push(piece.subarray(at));
      }
    }
    return { messages, refused: null, waiting: !reader.end() };
  } catch (thrown) {
    if (!(thrown instanceof MalformedMessage)) throw thrown;
    return { messages, refused: thrown.reason, waiting: false };
  }
}
