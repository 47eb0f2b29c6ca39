/** A complete PNG of one blue pixel, which every image model of the simulator returns. */
const tinyPngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPQz98OAAImAVZiAC9uAAAAAElFTkSuQmCC";

export const tinyPng = Buffer.from(tinyPngBase64, "base64");

/** The path of that image, for answers that return an image as a URL. */
export const imagePath = "/__sim/image/";

/** The same image in at least this many bytes: data after the last chunk of a PNG is ignored. */
export function pngBase64(bytes: number): string {
  if (bytes <= tinyPngBase64.length) return tinyPngBase64;
  return Buffer.concat([tinyPng, Buffer.alloc(Math.ceil(bytes * 0.75) - tinyPng.length)]).toString("base64");
}
