/**
 * An image edit form of the requested size. The model is the last field, as clients may send it, so the whole form must be read before
 * it can be routed.
 */
export function editForm(bodyBytes: number, model: string): { readonly contentType: string; readonly body: Buffer } {
  const part = (head: string): string => `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n`;
  const before =
    `${part(`name="prompt"`)}\r\nMake the sky green.\r\n` +
    `${part(`name="image[]"; filename="picture.png"`)}content-type: image/png\r\n\r\n`;
  const after = `\r\n${part(`name="model"`)}\r\n${model}\r\n--${boundary}--\r\n`;
  const picture = noise(Math.max(1, bodyBytes - before.length - after.length));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(before, "latin1"), picture, Buffer.from(after, "latin1")]),
  };
}

const boundary = "----bench-form-7MA4YWxkTrZu0gW";

/** Deterministic bytes like those of a compressed image, with line breaks among them. */
function noise(bytes: number): Buffer {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  let state = 0x9e3779b9;
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  return Buffer.from(words.buffer, 0, bytes);
}
