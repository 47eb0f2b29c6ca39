import { Failure, type VideoTurn } from "#core/index.ts";

/** What this upstream cannot do as it was asked; another one may. */
export function unsupported(param: string, message: string): Failure {
  return new Failure("unsupported_by_model", message, { param, retry: "other" });
}

/** A seed that can be sent; null for none and for a negative one, which asks for chance and gets it unasked. */
export function seedOf({ seed }: VideoTurn): number | undefined {
  return seed === null || seed < 0 ? undefined : seed;
}

export function refuseSeed(turn: VideoTurn): void {
  if (seedOf(turn) !== undefined) {
    throw unsupported("seed", "This model takes no `seed`: leave it out, or let it be negative for a random one.");
  }
}

export function refuseSound({ audio }: VideoTurn): void {
  if (audio === true) throw unsupported("audio", "This model makes silent videos.");
}

/** For models whose videos always have sound. */
export function refuseSilence({ audio }: VideoTurn): void {
  if (audio === false) throw unsupported("audio", "This model's videos always have sound.");
}

export function refuseWatermark({ watermark }: VideoTurn): void {
  if (watermark === true) throw unsupported("watermark", "This model puts no visible watermark on its videos.");
}

/** For models whose picture decides the shape of the video. */
export function refuseRatio({ ratio }: VideoTurn): void {
  if (ratio === null || ratio === "adaptive") return;
  throw unsupported("ratio", "This model takes the shape of its video from the picture: leave `ratio` out.");
}
