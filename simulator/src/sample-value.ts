/** The schema used if any JSON is allowed. */
export const anyAnswer = { type: "object", properties: { answer: { type: "string" } } };

/** A value that conforms to a JSON Schema, as far as tools and structured answers need: types, enums, const, nesting. */
export function sampleValue(schema: unknown, text: string, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > 16) return null;
  const { const: fixed, enum: choices, type, properties, items, anyOf, minimum } = schema as Record<string, unknown>;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices)) return choices[0];
  if (Array.isArray(anyOf)) return sampleValue(anyOf[0], text, depth + 1);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === "string") return text;
  if (kind === "integer" || kind === "number") return typeof minimum === "number" ? minimum : 1;
  if (kind === "boolean") return true;
  if (kind === "array") return [sampleValue(items, text, depth + 1)];
  if (kind === "object" || properties !== undefined) return sampleObject(properties, text, depth);
  return kind === "null" ? null : text;
}

function sampleObject(properties: unknown, text: string, depth: number): Record<string, unknown> {
  if (typeof properties !== "object" || properties === null) return {};
  const rows = Object.entries(properties).slice(0, 100);
  return Object.fromEntries(rows.map(([name, schema]) => [name, sampleValue(schema, text, depth + 1)]));
}
