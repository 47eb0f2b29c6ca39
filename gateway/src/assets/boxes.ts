import { bounds } from "#core/index.ts";
import type { ByteView } from "./blob-view.ts";

/** A box of an ISO base media file: what is in it lies from `start` to `end`. */
export interface Box {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The boxes between two places of the file, one after the other, as far as they are whole. */
export async function boxesIn(view: ByteView, from: number, to: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to && boxes.length < bounds.mediaPartsMax; ) {
    const head = Buffer.from(await view.at(at, 16));
    if (head.length < 8) break;
    const told = head.readUInt32BE(0);
    // 1: the length follows in 64 bits; 0: to the end of the file (ISO/IEC 14496-12, 4.2).
    const wide = told === 1 && head.length >= 16;
    const size = wide ? Number(head.readBigUInt64BE(8)) : told === 0 ? to - at : told;
    const inner = wide ? 16 : 8;
    if (size < inner) break;
    boxes.push({ name: head.toString("latin1", 4, 8), start: at + inner, end: Math.min(to, at + size) });
    at += size;
  }
  return boxes;
}

/** The first box on a path of names; `within` says where to begin. */
export async function findBox(view: ByteView, within: Box, ...path: readonly string[]): Promise<Box | null> {
  let box = within;
  for (const name of path) {
    const found = (await boxesIn(view, box.start, box.end)).find((one) => one.name === name);
    if (found === undefined) return null;
    // `meta` begins with four bytes of version and flags before its boxes.
    box = name === "meta" ? { ...found, start: found.start + 4 } : found;
  }
  return box;
}

export function wholeFile(view: ByteView): Box {
  return { name: "", start: 0, end: view.size };
}
