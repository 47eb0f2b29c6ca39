import type { FieldType, RequestField, RequestFields } from "@sluice/contract/words";
import { typeWords } from "#core/index.ts";
import { LOWER_N, OPEN_ARRAY, OPEN_OBJECT, QUOTE, type Span } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { missing, wrong } from "../json/value.ts";
import { digitsMax } from "./members.ts";

/**
 * What the contract's table says of the members of a body, asked of its bytes: nothing is parsed but a number that has a
 * bound. The model's name is left to `readModel`, which reads it anyway.
 */
export class MemberChecks {
  readonly #checks: readonly MemberCheck[];

  constructor(fields: RequestFields) {
    this.#checks = Object.entries(fields).flatMap(([name, field]) => {
      const isChecked = name !== "model" && (field.required === true || field.type !== undefined);
      return isChecked ? [checkOf(name, field)] : [];
    });
  }

  /** Throws Failure missing_required_parameter or invalid_request for the first member that is not as the table says. */
  check(body: Uint8Array, members: ReadonlyMap<string, Span>): void {
    for (const check of this.#checks) {
      const span = members.get(check.name);
      if (span !== undefined) checkOne(body, span, check);
      else if (check.required) throw missing(check.name);
    }
  }
}

interface MemberCheck {
  readonly name: string;
  readonly required: boolean;
  /** The types that it may have, by their bits; null: any. */
  readonly types: number | null;
  readonly minLength: number;
  readonly minimum: number | null;
  readonly must: string;
}

function checkOf(name: string, field: RequestField): MemberCheck {
  const types = field.type === undefined ? null : [field.type].flat();
  return {
    name,
    required: field.required === true,
    types: types === null ? null : types.reduce((bits, type) => bits | typeBits[type], 0),
    minLength: field.minLength ?? 0,
    minimum: types?.includes("integer") ? (field.minimum ?? Number.MIN_SAFE_INTEGER) : null,
    must: field.must ?? `must be ${(types ?? []).map((type) => typeWords[type]).join(" or ")}`,
  };
}

function checkOne(
  body: Uint8Array,
  span: Span,
  { name, required, types, minLength, minimum, must }: MemberCheck,
): void {
  if (types === null) return;
  const bit = bitOf(body[span.start] ?? 0);
  if (bit === nullBit) {
    if (required) throw missing(name);
    return;
  }
  if ((types & bit) === 0) throw wrong(name, must);
  if (bit === typeBits.string && span.end - span.start - 2 < minLength) {
    throw required && span.end - span.start === 2 ? missing(name) : wrong(name, must);
  }
  if (bit === typeBits.integer && minimum !== null) {
    const value = span.end - span.start > digitsMax ? null : readSpan(body, span);
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < minimum) throw wrong(name, must);
  }
}

const typeBits: Readonly<Record<FieldType, number>> = { string: 1, boolean: 2, integer: 4, array: 8, object: 16 };
const nullBit = 32;

/** By its first byte: the body was scanned, so its grammar is right. */
function bitOf(first: number): number {
  switch (first) {
    case QUOTE:
      return typeBits.string;
    case OPEN_ARRAY:
      return typeBits.array;
    case OPEN_OBJECT:
      return typeBits.object;
    case 0x74:
    case 0x66:
      return typeBits.boolean;
    case LOWER_N:
      return nullBit;
    default:
      return typeBits.integer;
  }
}
