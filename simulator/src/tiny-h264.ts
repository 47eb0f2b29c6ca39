/**
 * Frames with moving bars as H.264 (ITU-T H.264, Constrained Baseline), small enough to be generated each time and
 * playable in every browser. Only the first row of a frame stores colors (I_PCM); everything below is predicted from
 * above, and each bar's width from its left.
 */
const macroblocksWide = 9;
const macroblocksHigh = 5;
const barWidth = 3;

export const frameWidth = macroblocksWide * 16;
export const frameHeight = macroblocksHigh * 16;

/** Sequence parameters (§ 7.3.2.1): level 1.1, output in decoding order, no reference frames. */
export function sequenceParameters(): Buffer {
  const bits = new Bits();
  bits.put(66, 8).put(0xc0, 8).put(11, 8).ue(0).ue(0).ue(2).ue(1).put(0, 1);
  bits
    .ue(macroblocksWide - 1)
    .ue(macroblocksHigh - 1)
    .put(1, 1)
    .put(1, 1)
    .put(0, 1)
    .put(0, 1);
  return unit(0x67, bits);
}

/** Picture parameters (§ 7.3.2.2): CAVLC, with a switch for the deblocking filter. */
export function pictureParameters(): Buffer {
  const bits = new Bits();
  bits.ue(0).ue(0).put(0, 1).put(0, 1).ue(0).ue(0).ue(0).put(0, 1).put(0, 2);
  bits.ue(0).ue(0).ue(0).put(1, 1).put(0, 1).put(0, 1);
  return unit(0x68, bits);
}

/** One frame as a unit that follows its length. `at`: how far the bars have moved, 0 to 1. */
export function frame(index: number, at: number): Buffer {
  const bits = new Bits();
  // First macroblock, I slice, parameter set, frame number, IDR id, no reference marking, quantizer unchanged, no deblocking.
  bits
    .ue(0)
    .ue(7)
    .ue(0)
    .put(0, 4)
    .ue(index % 2)
    .put(0, 2)
    .ue(0)
    .ue(1);
  for (let row = 0; row < macroblocksHigh; row++) {
    for (let column = 0; column < macroblocksWide; column++) {
      if (row === 0 && column % barWidth === 0) putSamples(bits, colorOf(column / barWidth, at));
      else putPrediction(bits, row === 0 ? "left" : "above", coefficientsAround(row, column));
    }
  }
  const slice = unit(0x65, bits);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(slice.length);
  return Buffer.concat([length, slice]);
}

type Color = readonly [luma: number, blue: number, red: number];

/** I_PCM: the samples themselves, byte-aligned. */
function putSamples(bits: Bits, [luma, blue, red]: Color): void {
  bits.ue(25).align();
  for (const [samples, value] of [
    [256, luma],
    [64, blue],
    [64, red],
  ] as const) {
    for (let sample = 0; sample < samples; sample++) bits.put(value, 8);
  }
}

/** Intra 16×16 without a residual: type, chroma prediction, quantizer unchanged, no coefficients. */
function putPrediction(bits: Bits, from: "left" | "above", around: number): void {
  bits
    .ue(from === "left" ? 2 : 1)
    .ue(from === "left" ? 1 : 2)
    .ue(0);
  // coeff_token for no coefficients (table 9-5), selected by the neighbors' coefficients.
  if (around < 2) bits.put(1, 1);
  else if (around < 4) bits.put(0b11, 2);
  else if (around < 8) bits.put(0b1111, 4);
  else bits.put(0b000011, 6);
}

/** I_PCM blocks count as sixteen coefficients, predicted blocks as none (§ 9.2.1). */
function coefficientsAround(row: number, column: number): number {
  const of = (r: number, c: number) => (r === 0 && c % barWidth === 0 ? 16 : 0);
  const left = column > 0 ? of(row, column - 1) : null;
  const above = row > 0 ? of(row - 1, column) : null;
  if (left !== null && above !== null) return (left + above + 1) >> 1;
  return left ?? above ?? 0;
}

/** Hues around the color circle, a third of it apart. */
function colorOf(bar: number, at: number): Color {
  const angle = 2 * Math.PI * (at + (bar * barWidth) / macroblocksWide);
  return [110 + 20 * bar, Math.round(128 + 70 * Math.cos(angle)), Math.round(128 + 70 * Math.sin(angle))];
}

/** A network abstraction layer unit: its type and its payload, escaped so that it contains no start code. */
function unit(type: number, bits: Bits): Buffer {
  const payload = bits.end();
  const out = [type];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      out.push(3);
      zeros = 0;
    }
    out.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(out);
}

class Bits {
  readonly #bytes: number[] = [];
  #last = 0;
  #used = 0;

  put(value: number, length: number): this {
    for (let at = length - 1; at >= 0; at--) {
      this.#last = (this.#last << 1) | ((value >> at) & 1);
      this.#used += 1;
      if (this.#used === 8) this.#next();
    }
    return this;
  }

  /** Writes an Exp-Golomb code (§ 9.1). */
  ue(value: number): this {
    const length = Math.floor(Math.log2(value + 1));
    return this.put(0, length).put(value + 1, length + 1);
  }

  align(): void {
    while (this.#used !== 0) this.put(0, 1);
  }

  end(): readonly number[] {
    this.put(1, 1);
    this.align();
    return this.#bytes;
  }

  #next(): void {
    this.#bytes.push(this.#last);
    this.#last = 0;
    this.#used = 0;
  }
}
