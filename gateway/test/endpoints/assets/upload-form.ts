import { deflateSync } from "node:zlib";

/** A PNG picture in a single color. */
export function png(width: number, height: number): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, chunk("IHDR", head), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))];
  return new Uint8Array(Buffer.concat(parts));
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(Bun.hash.crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** One second of silence as a WAV file. `bytes` sets the size of the file, for longer sounds. */
export function wav(bytes = 16_044): Uint8Array<ArrayBuffer> {
  const sound = Buffer.alloc(bytes);
  sound.write("RIFF", 0, "latin1");
  sound.writeUInt32LE(bytes - 8, 4);
  sound.write("WAVEfmt ", 8, "latin1");
  sound.writeUInt32LE(16, 16);
  sound.set([1, 0, 1, 0], 20);
  sound.writeUInt32LE(8_000, 24);
  sound.writeUInt32LE(16_000, 28);
  sound.set([2, 0, 16, 0], 32);
  sound.write("data", 36, "latin1");
  sound.writeUInt32LE(bytes - 44, 40);
  return new Uint8Array(sound);
}

/** A form as a browser sends it. */
export function uploadForm(
  fields: Readonly<Record<string, string>>,
  file: Uint8Array<ArrayBuffer> | null,
  name = "hero.png",
): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  if (file !== null) form.append("file", new Blob([file]), name);
  return form;
}
