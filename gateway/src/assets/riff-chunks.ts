import { bounds } from "#core/index.ts";
import type { ByteView } from "./blob-view.ts";

export interface Chunk {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The chunks of a RIFF file, in order. One that claims more than there is ends with the file. */
export async function chunksOf(view: ByteView): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for (let at = 12; at + 8 <= view.size && chunks.length < bounds.mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 8));
    if (head.length < 8) break;
    const size = head.readUInt32LE(4);
    const start = at + 8;
    chunks.push({ name: head.toString("latin1", 0, 4), start, end: Math.min(view.size, start + size) });
    // Chunks begin at even places.
    at = start + size + (size % 2);
  }
  return chunks;
}
