import { bounds, Failure } from "#core/index.ts";
import { assetBytesMax, tooLargeFor } from "./asset-sizes.ts";
import { type MediaType, mediaTypeOf } from "./media-type.ts";

/**
 * Judges a file that is uploaded while it arrives: its first bytes say what it is, and that says how large it may be. Throws
 * Failure unsupported_media_type or request_too_large as soon as it can be known, so that nothing more is read.
 */
export class FileJudge {
  #opening: Uint8Array = new Uint8Array(0);
  #media: MediaType | null = null;
  #size = 0;

  take(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#media === null) {
      const missing = bounds.mediaOpeningBytes - this.#opening.length;
      // The piece is not ours to keep.
      this.#opening = Buffer.concat([this.#opening, piece.subarray(0, missing)]);
      if (this.#opening.length < bounds.mediaOpeningBytes) return;
    }
    const { type } = this.media();
    if (this.#size > assetBytesMax[type]) throw new Failure("request_too_large", tooLargeFor(type), { param: "file" });
  }

  /** What the file is, by its first bytes. */
  media(): MediaType {
    this.#media ??= mediaTypeOf(this.#opening);
    if (this.#media !== null) return this.#media;
    throw new Failure("unsupported_media_type", "The file has no format that assets may have.", { param: "file" });
  }
}
