import { Failure } from "#core/index.ts";
import type { FormBody, Spooled } from "#ports/index.ts";
import { encodeText } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import type { MultipartType } from "./content-type.ts";

/** The spooled form. Reading it replaces the value at `modelSpan`. */
export function createFormBody(spooled: Spooled, type: MultipartType, modelSpan: Span): FormBody {
  return {
    contentType: type.contentType,
    size: (upstreamModel) => spooled.size - (modelSpan.end - modelSpan.start) + encodeText(upstreamModel).length,
    open: (upstreamModel) => streamOf(withModel(spooled, modelSpan, encodeText(upstreamModel))),
    boundary: type.boundary,
    bytes: (bytesMax) => readBytes(spooled, bytesMax),
    discard: () => spooled.discard(),
  };
}

async function* withModel(spooled: Spooled, { start, end }: Span, model: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* spooled.read(0, start);
  yield model;
  yield* spooled.read(end, spooled.size);
}

function streamOf(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

async function readBytes(spooled: Spooled, bytesMax: number): Promise<Uint8Array> {
  if (spooled.size > bytesMax) {
    const message = `The upstream takes no forms, and this one is larger than the ${bytesMax} bytes that can be turned into what it takes.`;
    throw new Failure("unsupported_by_model", message, { retry: "other" });
  }
  const bytes = new Uint8Array(spooled.size);
  let at = 0;
  for await (const piece of spooled.read(0, spooled.size)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
