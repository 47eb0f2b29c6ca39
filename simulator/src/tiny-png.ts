/** A whole PNG of one blue pixel: the picture every image model of the simulator paints. */
const tinyPngBase64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mPQz98OAAImAVZiAC9uAAAAAElFTkSuQmCC";

export const tinyPng = Buffer.from(tinyPngBase64, "base64");

/** Where the simulator serves that picture, for answers that give an image as a URL. */
export const imagePath = "/__sim/image/";

/** The same picture at least this large: what follows the last chunk of a PNG means nothing. */
export function pngBase64(bytes: number): string {
  if (bytes <= tinyPngBase64.length) return tinyPngBase64;
  return Buffer.concat([tinyPng, Buffer.alloc(Math.ceil(bytes * 0.75) - tinyPng.length)]).toString("base64");
}
