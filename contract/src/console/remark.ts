import { z } from "zod";
import { type RemarkCode, type RemarkKind, remarkCodes } from "./remark-codes.ts";

/** An English sentence of the same answer, for programs that say it in words of their own. */
export function remarkSchema<Kind extends RemarkKind>(kind: Kind) {
  const table: Readonly<Record<string, readonly string[]>> = remarkCodes[kind];
  const params = Object.entries(table)
    .filter(([, names]) => names.length > 0)
    .map(([code, names]) => `\`${code}\`: ${names.map((name) => `\`${name}\``).join(", ")}`);
  return z.object({
    code: z.enum(Object.keys(table) as [RemarkCode<Kind>, ...RemarkCode<Kind>[]]),
    params: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe(params.length === 0 ? "None." : `What its sentence leaves open. ${params.join("; ")}.`),
  });
}
