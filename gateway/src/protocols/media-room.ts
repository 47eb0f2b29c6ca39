import { bounds, Failure } from "#core/index.ts";

/** How much is put in the place of addresses in one call: one address may stand in it a thousand times. */
export class MediaRoom {
  #charactersLeft = Math.ceil(bounds.inlinedBytesMax / 3) * 4;

  /** Takes base64 of this length. Throws Failure invalid_request when it is too much. */
  take(characters: number): void {
    this.#charactersLeft -= characters;
    if (this.#charactersLeft >= 0) return;
    throw new Failure(
      "invalid_request",
      `What stands at the addresses of media in one call has more than ${bounds.inlinedBytesMax} bytes.`,
      { param: "messages" },
    );
  }
}
