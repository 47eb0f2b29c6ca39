import { keyBytes, type ProtobufWriter } from "./protobuf-writer.ts";
import type { Attributes } from "./sdk-types.ts";

/** The name of an attribute, with its bytes on the wire. */
export interface AttributeName {
  readonly text: string;
  readonly bytes: Uint8Array;
}

export type AttributeValue = string | number | boolean;

export function attributeName(text: string): AttributeName {
  return { text, bytes: keyBytes(text) };
}

/** What one span has alone. The same list is filled for one span after the other, so that no call makes objects for it. */
export class AttributeList {
  readonly #names: AttributeName[] = [];
  readonly #values: AttributeValue[] = [];
  #length = 0;

  clear(): this {
    this.#length = 0;
    return this;
  }

  add(name: AttributeName, value: AttributeValue): void {
    this.#names[this.#length] = name;
    this.#values[this.#length++] = value;
  }

  each(act: (name: AttributeName, value: AttributeValue) => void): void {
    for (let at = 0; at < this.#length; at++) act(this.#names[at] as AttributeName, this.#values[at] as AttributeValue);
  }

  write(out: ProtobufWriter, field: number): void {
    for (let at = 0; at < this.#length; at++) {
      out.attribute(field, (this.#names[at] as AttributeName).bytes, this.#values[at] as AttributeValue);
    }
  }

  /** As an object, for whoever keeps it. */
  plain(): Attributes {
    const out: Attributes = {};
    this.each((name, value) => {
      out[name.text] = value;
    });
    return out;
  }
}
