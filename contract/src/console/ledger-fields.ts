import { z } from "zod";
import { ledgerTable } from "../ledger-table.ts";
import { outcomes } from "./states.ts";
import { at, count, id, ms } from "./words.ts";

/** Schema for each type of column. */
const kinds = {
  id,
  text: z.string(),
  outcome: z.enum(outcomes),
  source: z.enum(["upstream", "estimated", "none"]),
  time: at,
  ms,
  count,
  calls: z.int().min(0),
  status: z.int(),
  nanoUsd: z.int(),
  flag: z.boolean(),
  tags: z.record(z.string(), z.string()),
  texts: z.array(z.string()),
  usage: z.record(z.string(), z.number()),
} as const;

type Row = (typeof ledgerTable)[number];

/** A nullable list of texts is returned as an empty list. */
type SchemaOf<Of extends Row> = Of extends { readonly nullable: true; readonly kind: Exclude<Row["kind"], "texts"> }
  ? z.ZodNullable<(typeof kinds)[Of["kind"]]>
  : (typeof kinds)[Of["kind"]];

type FieldsShown<Where extends "list" | "detail"> = {
  [Of in Extract<Row, { readonly shown: Where }> as Of["column"]]: SchemaOf<Of>;
};

/** The fields of the ledger table that the admin API returns in lists or in details. */
export function ledgerFields<Where extends "list" | "detail">(where: Where): FieldsShown<Where> {
  const shown = ledgerTable.filter((row) => row.shown === where);
  return Object.fromEntries(shown.map((row) => [row.column, schemaOf(row)])) as FieldsShown<Where>;
}

function schemaOf(row: Row): z.ZodType {
  const plain = kinds[row.kind];
  const schema = "nullable" in row && row.kind !== "texts" ? plain.nullable() : plain;
  return "help" in row ? schema.describe(row.help) : schema;
}
