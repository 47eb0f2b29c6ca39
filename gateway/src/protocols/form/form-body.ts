import { Failure } from "#core/index.ts";
import type { FormBody, Spooled } from "#ports/index.ts";
import type { Span } from "../json/cursor.ts";
import type { MultipartType } from "./content-type.ts";

/** The spooled form, with the value that stands at `modelSpan` replaced as it is read. */
export function createFormBody(spooled: Spooled, type: MultipartType, modelSpan: Span): FormBody {
  return {
    contentType: type.contentType,
    size: (upstreamModel) => spooled.size - (modelSpan.end - modelSpan.start) + encoder.encode(upstreamModel).length,
    open: (upstreamModel) =>
      inTurn([
        () => spooled.read(0, modelSpan.start),
        () => new Blob([encoder.encode(upstreamModel)]).stream(),
        () => spooled.read(modelSpan.end, spooled.size),
      ]),
    boundary: type.boundary,
    bytes: (bytesMax) => readBytes(spooled, bytesMax),
    discard: () => spooled.discard(),
  };
}

const encoder = new TextEncoder();

async function readBytes(spooled: Spooled, bytesMax: number): Promise<Uint8Array> {
  if (spooled.size > bytesMax) {
    const message = `The upstream takes no forms, and this one is larger than the ${bytesMax} bytes that can be turned into what it takes.`;
    throw new Failure("unsupported_by_model", message, { retry: "other" });
  }
  const bytes = new Uint8Array(spooled.size);
  let at = 0;
  const reader = spooled.read(0, spooled.size).getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    bytes.set(piece.value, at);
    at += piece.value.length;
  }
  return bytes;
}

/** What is used of a stream's reader; the runtime's own type is wider. */
interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(reason?: unknown): Promise<void>;
}

/** Streams one after the other, each opened when the one before has ended. */
function inTurn(opens: readonly (() => ReadableStream<Uint8Array>)[]): ReadableStream<Uint8Array> {
  let next = 0;
  let reader: PieceReader | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          reader ??= opens[next++]?.().getReader() ?? null;
          if (reader === null) {
            controller.close();
            return;
          }
          const piece = await reader.read();
          if (!piece.done) {
            controller.enqueue(piece.value);
            return;
          }
          reader = null;
        }
      },
      async cancel(reason) {
        await reader?.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
