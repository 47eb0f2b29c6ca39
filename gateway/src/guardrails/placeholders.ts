import { createHmac } from "node:crypto";
import type { Detector, Finding } from "#core/index.ts";

/** The longest placeholder, in characters. */
const charactersMax = 64;
const pattern = /‹[A-Z0-9_]{1,48}_[0-9A-HJKMNP-TV-Z]{8}›/g;
const none: readonly string[] = [];
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The values that one call has masked. A placeholder is the same for the same value of a workspace, so that prompt caches and signed
 * reasoning stay valid, and cannot be guessed. Only placeholders of values that the call itself contains are replaced by them.
 */
export class Placeholders implements Detector {
  readonly #secret: () => string;
  readonly #values = new Map<string, string>();

  /** `secret`: of the workspace; derived only when something is masked. */
  constructor(secret: () => string) {
    this.#secret = secret;
  }

  get size(): number {
    return this.#values.size;
  }

  add(type: string, value: string): string {
    const name =
      type
        .toUpperCase()
        .replace(/[^A-Z0-9]+/g, "_")
        .slice(0, 48) || "VALUE";
    // Two values of a call never share one.
    for (let round = 0; ; round++) {
      const placeholder = `‹${name}_${this.#tag(name, value, round)}›`;
      const present = this.#values.get(placeholder);
      if (present !== undefined && present !== value) continue;
      this.#values.set(placeholder, value);
      return placeholder;
    }
  }

  /** Adds one of an earlier call. False if this call has used it for another value. */
  adopt(placeholder: string, value: string): boolean {
    const present = this.#values.get(placeholder) ?? value;
    this.#values.set(placeholder, present);
    return present === value;
  }

  valueOf(placeholder: string): string | undefined {
    return this.#values.get(placeholder);
  }

  /** In the order of their issue. */
  issued(): readonly string[] {
    return this.#values.size === 0 ? none : [...this.#values.keys()];
  }

  find(text: string): readonly Finding[] {
    return findPlaceholders(text, this.#values);
  }

  pendingFrom(text: string): number {
    const start = this.size === 0 ? -1 : text.lastIndexOf("‹");
    return start === -1 || text.length - start >= charactersMax || text.includes("›", start) ? text.length : start;
  }

  #tag(name: string, value: string, round: number): string {
    const digest = createHmac("sha256", this.#secret()).update(`${round}\0${name}\0${value}`).digest();
    return Array.from(digest.subarray(0, 8), (byte) => alphabet[byte & 31]).join("");
  }
}

/** Finds placeholders from a list, without their values. */
export function placeholderFinder(issued: readonly string[]): Detector {
  const list = new Set(issued);
  return { find: (text) => findPlaceholders(text, list), pendingFrom: (text) => text.length };
}

function findPlaceholders(
  text: string,
  issued: { readonly size: number; has(placeholder: string): boolean },
): Finding[] {
  if (issued.size === 0 || !text.includes("‹")) return [];
  return [...text.matchAll(pattern)]
    .filter(({ 0: placeholder }) => issued.has(placeholder))
    .map(({ 0: type, index: start }) => ({ start, end: start + type.length, type }));
}
