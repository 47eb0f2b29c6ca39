import { type PieceReader, pulledStream, type StoredFile } from "#core/index.ts";
import type { OutboundStream } from "#ports/index.ts";

/** A form with fields and one file as its last part, streamed. */
export function fileForm(
  boundary: string,
  fields: Readonly<Record<string, string>>,
  { filename, mediaType, sizeBytes }: StoredFile,
  open: () => Promise<ReadableStream<Uint8Array>>,
): OutboundStream {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  // As browsers write it (WHATWG HTML, multipart/form-data).
  const name = filename.replaceAll('"', "%22").replaceAll(/[\r\n]/g, " ");
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: ${mediaType}\r\n\r\n`;
  const begin = Buffer.from(parts.join("") + head);
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    size: begin.length + sizeBytes + end.length,
    open: () => framed(begin, open, end),
  };
}

/** The file alone. */
export function fileBytes({ sizeBytes }: StoredFile, open: () => Promise<ReadableStream<Uint8Array>>): OutboundStream {
  return { size: sizeBytes, open: () => framed(null, open, null) };
}

function framed(
  begin: Uint8Array | null,
  open: () => Promise<ReadableStream<Uint8Array>>,
  end: Uint8Array | null,
): ReadableStream<Uint8Array> {
  let [before, after] = [begin, end];
  let reader: PieceReader | null = null;
  let isOver = false;
  const next = async (): Promise<Uint8Array | null> => {
    if (before !== null) {
      const piece = before;
      before = null;
      return piece;
    }
    if (!isOver) {
      reader ??= (await open()).getReader();
      const piece = await reader.read();
      if (!piece.done) return piece.value;
      isOver = true;
    }
    const piece = after;
    after = null;
    return piece;
  };
  return pulledStream(next, () => reader?.cancel());
}
