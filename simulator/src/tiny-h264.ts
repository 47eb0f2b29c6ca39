/**
 * Pictures of moving bars as H.264 (ITU-T H.264, Constrained Baseline), small enough to be made anew each time and readable
 * by every browser. Only the first row of a picture says colours (I_PCM); all below is predicted from above, and a bar's
 * width from its left.
 */
const macroblocksWide = 9;
const macroblocksHigh = 5;
const barWidth = 3;

export const frameWidth = macroblocksWide * 16;
export const frameHeight = macroblocksHigh * 16;

/** Sequence parameters (§ 7.3.2.1): level 1.1, no order of its own, no reference to another picture. */
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

/** Picture parameters (§ 7.3.2.2): CAVLC, and the deblocking filter can be switched off. */
export function pictureParameters(): Buffer {
  const bits = new Bits();
  bits.ue(0).ue(0).put(0, 1).put(0, 1).ue(0).ue(0).ue(0).put(0, 1).put(0, 2);
  bits.ue(0).ue(0).ue(0).put(1, 1).put(0, 1).put(0, 1);
  return unit(0x68, bits);
}

/** One picture as a unit with its length before it. `at`: how far the bars have moved, 0 to 1. */
export function frame(index: number, at: number): Buffer {
  const bits = new Bits();
  // First macroblock, an I slice, its parameters, frame number, IDR id, no marks, quantiser as it is, no deblocking.
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
      if (row === 0 && column % barWidth === 0) plain(bits, colourOf(column / barWidth, at));
      else predicted(bits, row === 0 ? "left" : "above", coefficientsAround(row, column));
    }
  }
  const slice = unit(0x65, bits);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(slice.length);
  return Buffer.concat([length, slice]);
}

type Colour = readonly [luma: number, blue: number, red: number];

/** I_PCM: the samples themselves, on whole bytes. */
function plain(bits: Bits, [luma, blue, red]: Colour): void {
  bits.ue(25).align();
  for (const [samples, value] of [
    [256, luma],
    [64, blue],
    [64, red],
  ] as const) {
    for (let sample = 0; sample < samples; sample++) bits.put(value, 8);
  }
}

/** Intra 16×16 without a residual: type, how the colours are predicted, no change of the quantiser, no coefficients. */
function predicted(bits: Bits, from: "left" | "above", around: number): void {
  bits
    .ue(from === "left" ? 2 : 1)
    .ue(from === "left" ? 1 : 2)
    .ue(0);
  // coeff_token with none (table 9-5), by how many the neighbours have.
  if (around < 2) bits.put(1, 1);
  else if (around < 4) bits.put(0b11, 2);
  else if (around < 8) bits.put(0b1111, 4);
  else bits.put(0b000011, 6);
}

/** Samples count as sixteen coefficients, predictions as none (§ 9.2.1). */
function coefficientsAround(row: number, column: number): number {
  const of = (r: number, c: number) => (r === 0 && c % barWidth === 0 ? 16 : 0);
  const left = column > 0 ? of(row, column - 1) : null;
  const above = row > 0 ? of(row - 1, column) : null;
  if (left !== null && above !== null) return (left + above + 1) >> 1;
  return left ?? above ?? 0;
}

/** Around the circle of hues, a third of it apart. */
function colourOf(bar: number, at: number): Colour {
  const angle = 2 * Math.PI * (at + (bar * barWidth) / macroblocksWide);
  return [110 + 20 * bar, Math.round(128 + 70 * Math.cos(angle)), Math.round(128 + 70 * Math.sin(angle))];
}

/** A network abstraction layer unit: its type, and its payload with no three bytes that could be the begin of another. */
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

  /** Exponential Golomb (§ 9.1). */
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
