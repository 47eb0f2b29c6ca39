import { keyBytes, type ProtobufWriter } from "./protobuf-writer.ts";

/** The name of an attribute, with its bytes on the wire. */
export interface AttributeName {
  readonly text: string;
  readonly bytes: Uint8Array;
}

export type AttributeValue = string | number | boolean;

/** Attributes in the making. */
export type Attributes = Record<string, AttributeValue>;

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

  write(out: ProtobufWriter, field: number): void {
    for (let at = 0; at < this.#length; at++) {
      out.attribute(field, (this.#names[at] as AttributeName).bytes, this.#values[at] as AttributeValue);
    }
  }
}
