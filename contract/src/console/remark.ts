import { z } from "zod";
import { type RemarkCode, type RemarkKind, remarkCodes } from "./remark-codes.ts";

/** Code and parameters of an English sentence in the same response, for programs that translate it. */
export function remarkSchema<Kind extends RemarkKind>(kind: Kind) {
  const table: Readonly<Record<string, readonly string[]>> = remarkCodes[kind];
  const params = Object.entries(table)
    .filter(([, names]) => names.length > 0)
    .map(([code, names]) => `\`${code}\`: ${names.map((name) => `\`${name}\``).join(", ")}`);
  return z.object({
    code: z.enum(Object.keys(table) as [RemarkCode<Kind>, ...RemarkCode<Kind>[]]),
    params: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe(params.length === 0 ? "None." : `Parameters of the sentence. ${params.join("; ")}.`),
  });
}
