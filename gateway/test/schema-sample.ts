import { z } from "zod";

/**
 * A value that matches a schema: `least` omits optional fields, `full` includes every field that
 * the schema names. Throws if it finds no matching value.
 */
export function sampleOf(schema: z.ZodType, kind: "least" | "full"): unknown {
  const value = sampled(schema, kind);
  const read = schema.safeParse(value);
  if (read.success) return value;
  throw new Error(
    `No sample for this schema: ${read.error.issues[0]?.path.join(".")} ${read.error.issues[0]?.message}`,
  );
}

function sampled(schema: unknown, kind: "least" | "full"): unknown {
  if (!(schema instanceof z.ZodType)) throw new Error("Not a schema.");
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return kind === "least" ? undefined : sampled(schema.unwrap(), kind);
  }
  if (schema instanceof z.ZodNullable) return kind === "least" ? null : sampled(schema.unwrap(), kind);
  if (schema instanceof z.ZodPipe) return sampled(schema.in, kind);
  if (schema instanceof z.ZodObject) return objectOf(schema, kind);
  if (schema instanceof z.ZodArray) return arrayOf(schema, kind);
  if (schema instanceof z.ZodRecord) return kind === "least" ? {} : recordOf(schema, kind);
  if (schema instanceof z.ZodTuple) return schema.def.items.map((item) => sampled(item, kind));
  if (schema instanceof z.ZodUnion) return sampled(schema.options[0], kind);
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return schema.def.values[0];
  return firstThatFits(schema);
}

/** Leaves out members that contradict others. */
function objectOf(schema: z.ZodObject, kind: "least" | "full"): Record<string, unknown> {
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, sampled(field, kind)] as const);
  const all = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  const issues = schema.safeParse(all).error?.issues ?? [];
  const refused = new Set(issues.flatMap(({ code, path }) => (code === "custom" ? [path[0]] : [])));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !refused.has(name)));
}

function arrayOf(schema: z.ZodArray, kind: "least" | "full"): unknown[] {
  return kind === "least" && schema.safeParse([]).success ? [] : [sampled(schema.element, kind)];
}

function recordOf(schema: z.ZodRecord, kind: "least" | "full"): Record<string, unknown> {
  return { [String(sampled(schema.keyType as z.ZodType, kind))]: sampled(schema.valueType, kind) };
}

/** Plain values. Every string, number and flag of the admin API accepts one of them. */
const candidates = [
  "sample",
  "sample-text-of-some-length",
  "sample@example.com",
  "https://sample.example.com",
  "16:9",
  "720p",
  "192.0.2.1",
  "2026-01",
  "2030-01-31T00:00:00Z",
  "2026-01-01",
  "22:00",
  "Europe/Berlin",
  "sampleRoutingKey0123",
  "acme/ci",
  // Nano-USD as text.
  "1",
  "#0b7285",
  1,
  0.5,
  60,
  90,
  0,
  true,
  2_000_000_000_000,
  // A setting without a value, such as a logo.
  "",
  null,
] as const;

function firstThatFits(schema: z.ZodType): unknown {
  const found = candidates.find((candidate) => schema.safeParse(candidate).success);
  if (found !== undefined) return found;
  throw new Error(`None of the plain values fits a ${schema.def.type}.`);
}
