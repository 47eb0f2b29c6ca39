import { noUsage } from "#core/index.ts";
import { AnyTap } from "../any-wire.ts";
import type { RequestFacts, UsageReading } from "../dialect.ts";

/**
 * A sound on its way, byte for byte. It tells nothing of what it used: the tokens of an output are guessed from its size, about
 * twenty for a second of it.
 */
export class SoundTap extends AnyTap {
  readonly #input: number;
  readonly #bytesPerToken: number;
  #bytes = 0;

  constructor({ inputEstimate }: Pick<RequestFacts, "inputEstimate">, mediaType: string) {
    super();
    this.#input = inputEstimate;
    this.#bytesPerToken = rates.find(([pattern]) => pattern.test(mediaType))?.[1] ?? usualRate;
  }

  protected override listen(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
  }

  override get contentSeen(): boolean {
    return this.#bytes > 0;
  }

  override get usage(): UsageReading | null {
    const audioOutput = Math.ceil(this.#bytes / this.#bytesPerToken);
    return { usage: { ...noUsage, inputUncached: this.#input, audioOutput }, raw: "{}" };
  }

  /** Whether all of it came is for the transport to say. */
  override complete(): boolean {
    return this.#bytes > 0;
  }
}

/** Of MP3 at 128 kbit/s. */
const usualRate = 800;
/** Bytes for each token, by kind of sound: 24 kHz with 16 bits where it is not packed. */
const rates: readonly (readonly [RegExp, number])[] = [
  [/wav|pcm|l16|octet-stream/i, 2_400],
  [/flac/i, 1_200],
  [/opus|ogg|webm/i, 200],
  [/aac|mp4/i, 500],
];
