import { type AssetType, bounds, Failure } from "#core/index.ts";

export interface MediaType {
  readonly type: AssetType;
  readonly contentType: string;
}

/**
 * Detects the type from the first bytes (bounds.mediaOpeningBytes) by file signatures; null if unsupported. The host's
 * content type is ignored, because the caller chose the host.
 */
export function mediaTypeOf(opening: Uint8Array): MediaType | null {
  const text = Buffer.from(opening.buffer, opening.byteOffset, opening.length).toString("latin1");
  const contentType = signatureOf(text) ?? boxBrandOf(text) ?? audioFrameOf(opening);
  if (contentType === null) return null;
  return { type: assetTypes[contentType.slice(0, 5)] ?? "Image", contentType };
}

const assetTypes: Readonly<Record<string, AssetType>> = { image: "Image", video: "Video", audio: "Audio" };

function signatureOf(text: string): string | null {
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("II*\0") || text.startsWith("MM\0*")) return "image/tiff";
  // "BM" also starts text; a bitmap has zeros at 6 and its header's length at 14.
  if (text.startsWith("BM") && text.slice(6, 10) === "\0\0\0\0" && text.slice(15, 18) === "\0\0\0") return "image/bmp";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WAVE") return "audio/wav";
  if (text.startsWith("fLaC")) return "audio/flac";
  if (text.startsWith("OggS")) return "audio/ogg";
  if (text.startsWith("ID3")) return "audio/mpeg";
  // EBML; only WebM is supported.
  if (text.startsWith("\x1a\x45\xdf\xa3") && text.includes("webm")) return "video/webm";
  return null;
}

/** ISO base media files (ISO/IEC 14496-12) have a brand; old QuickTime files start with another box. */
function boxBrandOf(text: string): string | null {
  const box = text.slice(4, 8);
  if (box === "moov" || box === "mdat" || box === "wide" || box === "free") return "video/quicktime";
  if (box !== "ftyp") return null;
  const brand = text.slice(8, 12);
  if (/^(?:hei[cxms]|hev[cxms]|mif1|msf1)$/.test(brand)) return "image/heic";
  if (/^(?:M4A |M4B )$/.test(brand)) return "audio/mp4";
  if (brand === "qt  ") return "video/quicktime";
  return /^(?:isom|iso[2-9]|mp4[12]|avc1|M4V |M4VP|mmp4|dash|f4v |MSNV|3gp[4-7]|XAVC)$/.test(brand)
    ? "video/mp4"
    : null;
}

/** An MPEG audio frame without a tag: sync bits, layer III, and a valid version, bit rate and sample rate. */
function audioFrameOf(opening: Uint8Array): string | null {
  const [first = 0, second = 0, third = 0] = opening;
  const frame = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  return frame && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c ? "audio/mpeg" : null;
}

/** Size limits, as the strictest known library has them. */
export const assetImageBytesMax = 30 * 1024 * 1024;
const assetVideoBytesMax = 50 * 1024 * 1024;
export const assetAudioBytesMax = 15 * 1024 * 1024;

export const assetBytesMax: Readonly<Record<AssetType, number>> = {
  Image: assetImageBytesMax,
  Video: assetVideoBytesMax,
  Audio: assetAudioBytesMax,
};

export function tooLargeFor(type: AssetType): string {
  return `Larger than ${assetBytesMax[type] / (1024 * 1024)} MiB, the most for asset_type ${type}.`;
}

/** Checks an upload while it arrives. Throws Failure unsupported_media_type or request_too_large as soon as possible. */
export class UploadCheck {
  #opening: Uint8Array = new Uint8Array(0);
  #media: MediaType | null = null;
  #size = 0;

  take(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#media === null) {
      const missing = bounds.mediaOpeningBytes - this.#opening.length;
      // Copies, because the piece may be reused.
      this.#opening = Buffer.concat([this.#opening, piece.subarray(0, missing)]);
      if (this.#opening.length < bounds.mediaOpeningBytes) return;
    }
    const { type } = this.media();
    if (this.#size > assetBytesMax[type]) throw new Failure("request_too_large", tooLargeFor(type), { param: "file" });
  }

  media(): MediaType {
    this.#media ??= mediaTypeOf(this.#opening);
    if (this.#media !== null) return this.#media;
    throw new Failure("unsupported_media_type", "The file format is not supported.", { param: "file" });
  }
}
