import type { Usage } from "./usage.ts";

/**
 * One call for pictures in neutral form: to make them from words, or to change `images` by words. Built only when the
 * upstream makes pictures in another dialect than the caller's. null means "not said".
 */
export interface ImageTurn {
  readonly prompt: string;
  /** How many pictures are wanted. */
  readonly count: number;
  readonly size: ImageSize | null;
  readonly quality: string | null;
  /** `transparent`, `opaque` or `auto`. */
  readonly background: string | null;
  /** `png`, `jpeg` or `webp`. */
  readonly outputFormat: string | null;
  readonly images: readonly ImageMedia[];
  /** Transparent where the first image is to be changed. */
  readonly mask: ImageMedia | null;
  /** The caller wants events: partial pictures, then the whole one. */
  readonly stream: boolean;
}

/** What an answer is written by: the turn without its words and pictures. */
export type RequestedImages = Pick<ImageTurn, "size" | "quality" | "background">;

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

export interface ImageMedia {
  readonly mediaType: string;
  /** base64 */
  readonly data: string;
}

export interface ImageAnswer {
  readonly images: readonly ImageMedia[];
  /** null when the upstream reported none. */
  readonly usage: Usage | null;
  /** The prompt as the upstream rewrote it, where it says so. */
  readonly revisedPrompt: string | null;
}
