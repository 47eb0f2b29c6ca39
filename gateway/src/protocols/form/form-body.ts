import { Failure } from "#core/index.ts";
import type { FormBody, Spooled } from "#ports/index.ts";
import { type Edit, encodeText } from "../json/bytes.ts";
import type { Span } from "../json/cursor.ts";
import type { MultipartType } from "./content-type.ts";

/** The spooled form. Reading it replaces the value at `modelSpan`. */
export function createFormBody(spooled: Spooled, type: MultipartType, modelSpan: Span): FormBody {
  const withModel = (upstreamModel: string) => splicedForm(spooled, [{ ...modelSpan, text: upstreamModel }]);
  return {
    contentType: type.contentType,
    size: (upstreamModel) => withModel(upstreamModel).size,
    open: (upstreamModel) => withModel(upstreamModel).open(),
    boundary: type.boundary,
    bytes: (bytesMax) => readBytes(spooled, bytesMax),
    discard: () => spooled.discard(),
  };
}

/** The spooled form with other texts in some places. `edits` are ascending and do not overlap. */
export function splicedForm(spooled: Spooled, edits: readonly Edit[]) {
  const changes = edits.map(({ start, end, text }) => ({ start, end, bytes: encodeText(text) }));
  const size = changes.reduce((sum, { start, end, bytes }) => sum + bytes.length - (end - start), spooled.size);
  return { size, open: () => streamOf(splicedPieces(spooled, changes)) };
}

async function* splicedPieces(
  spooled: Spooled,
  changes: readonly { readonly start: number; readonly end: number; readonly bytes: Uint8Array }[],
): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const { start, end, bytes } of changes) {
    yield* spooled.read(from, start);
    yield bytes;
    from = end;
  }
  yield* spooled.read(from, spooled.size);
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
