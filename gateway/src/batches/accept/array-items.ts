import { Failure } from "#core/index.ts";
import { batchBounds } from "../batch-bounds.ts";

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Bytes of all other members together. */
const othersBytesMax = 64 * 1024;

/**
 * Splits a JSON object with one long array into the items of that array, piece by piece as they arrive. The items themselves are not
 * checked. Throws Failure invalid_request.
 */
export class ArrayItems {
  readonly #name: string;
  #where: "start" | "key" | "colon" | "value" | "items" | "next" | "end" = "start";
  #key = "";
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** An item, a key or another value has begun. */
  #begun = false;
  #isScalar = false;
  #needsComma = false;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #others = 0;
  /** Whether the array was there. */
  found = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** The items that end in this piece. */
  *add(piece: Uint8Array): Generator<Uint8Array, void, undefined> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (this.#begun) {
        if (!this.#ends(byte)) continue;
        // A number or a literal ends before this byte.
        const end = this.#isScalar ? at : at + 1;
        const whole = this.#cut(piece.subarray(from, end));
        this.#begun = false;
        if (this.#where === "items") yield whole;
        else if (this.#where === "key") {
          this.#key = this.#readKey(whole);
          this.#where = "colon";
        } else this.#where = "next";
        if (!this.#isScalar) continue;
      }
      if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue;
      if (this.#step(byte)) from = at;
    }
    if (!this.#begun) return;
    const rest = piece.subarray(from);
    this.#grow(rest.length);
    this.#pieces.push(rest.slice());
  }

  /** Call it after the last piece. */
  end(): void {
    if (this.#where !== "end") throw invalid("the body ended too early");
    if (!this.found) throw new Failure("invalid_request", `${this.#name}: Field required.`, { param: this.#name });
  }

  /** Begins or ends something between values. Returns whether a value begins with this byte. */
  #step(byte: number): boolean {
    switch (this.#where) {
      case "start":
        if (byte !== openObject) throw invalid("it must be an object");
        this.#where = "key";
        return false;
      case "key":
        if (byte === closeObject && this.#key === "") this.#where = "end";
        else if (byte === quote) return this.#begin(byte);
        else throw invalid("a member name was expected");
        return false;
      case "colon":
        if (byte !== colon) throw invalid("a colon was expected");
        this.#where = "value";
        return false;
      case "value":
        if (this.#key === this.#name && byte === openArray) {
          if (this.found) throw invalid(`"${this.#name}" occurs twice`);
          this.found = true;
          this.#where = "items";
          this.#needsComma = false;
          return false;
        }
        if (this.#key === this.#name)
          throw new Failure("invalid_request", `${this.#name}: Input should be a valid list.`, { param: this.#name });
        return this.#begin(byte);
      case "items":
        if (byte === closeArray) this.#where = "next";
        else if (byte === comma && this.#needsComma) this.#needsComma = false;
        else if (this.#needsComma || byte === comma) throw invalid("a comma is wrong or missing");
        else {
          this.#needsComma = true;
          return this.#begin(byte);
        }
        return false;
      case "next":
        if (byte === comma) this.#where = "key";
        else if (byte === closeObject) this.#where = "end";
        else throw invalid("a comma is missing");
        return false;
      case "end":
        throw invalid("something follows its end");
    }
  }

  #begin(byte: number): true {
    this.#begun = true;
    this.#inString = byte === quote;
    this.#depth = byte === openObject || byte === openArray ? 1 : 0;
    this.#isScalar = this.#depth === 0 && !this.#inString;
    return true;
  }

  /** Whether the value that has begun ends with this byte. */
  #ends(byte: number): boolean {
    if (this.#inString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) {
        this.#inString = false;
        return this.#depth === 0;
      }
      return false;
    }
    if (this.#isScalar) return byte === comma || byte === closeArray || byte === closeObject || byte <= 0x20;
    if (byte === quote) this.#inString = true;
    else if (byte === openObject || byte === openArray) this.#depth++;
    else if (byte === closeObject || byte === closeArray) return --this.#depth === 0;
    return false;
  }

  #cut(rest: Uint8Array): Uint8Array {
    this.#grow(rest.length);
    const whole = this.#pieces.length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    this.#pieces = [];
    this.#size = 0;
    return whole;
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    if (this.#where === "items") {
      if (this.#size <= batchBounds.rowBytesMax) return;
      throw new Failure("request_too_large", `A row is larger than ${batchBounds.rowBytesMax} bytes.`);
    }
    this.#others += bytes;
    if (this.#others > othersBytesMax) throw invalid("its other members are too long");
  }

  #readKey(text: Uint8Array): string {
    try {
      return String(JSON.parse(Buffer.from(text).toString("utf8")));
    } catch {
      throw invalid("a member name is invalid");
    }
  }
}

function invalid(why: string): Failure {
  return new Failure("invalid_request", `The body is not valid JSON: ${why}.`);
}
