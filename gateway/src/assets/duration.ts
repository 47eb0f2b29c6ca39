import type { ByteView } from "./blob-view.ts";
import { findBox, wholeFile } from "./boxes.ts";
import { chunksOf } from "./riff-chunks.ts";

/** How long a video or a sound lasts, in seconds, where its header says so; null where it does not, or cannot be read. */
export async function durationOf(view: ByteView, contentType: string): Promise<number | null> {
  const seconds = await secondsOf(view, contentType);
  return seconds !== null && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}

function secondsOf(view: ByteView, contentType: string): Promise<number | null> {
  if (contentType === "audio/wav") return waveSeconds(view);
  const boxed = contentType === "video/mp4" || contentType === "video/quicktime" || contentType === "audio/mp4";
  return boxed ? movieSeconds(view) : Promise.resolve(null);
}

/** The movie header, wherever in the file the movie box is. A fragmented file says 0 there, which is no answer. */
async function movieSeconds(view: ByteView): Promise<number | null> {
  const header = await findBox(view, wholeFile(view), "moov", "mvhd");
  if (header === null) return null;
  const bytes = Buffer.from(await view.at(header.start, 32));
  const wide = bytes[0] === 1;
  if (bytes.length < (wide ? 32 : 20)) return null;
  const scale = bytes.readUInt32BE(wide ? 20 : 12);
  const length = wide ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
  return length / scale;
}

async function waveSeconds(view: ByteView): Promise<number | null> {
  let bytesPerSecond = 0;
  for (const chunk of await chunksOf(view)) {
    if (chunk.name === "fmt ") {
      const format = Buffer.from(await view.at(chunk.start, 12));
      if (format.length >= 12) bytesPerSecond = format.readUInt32LE(8);
    }
    if (chunk.name === "data") return bytesPerSecond === 0 ? null : (chunk.end - chunk.start) / bytesPerSecond;
  }
  return null;
}
