import { z } from "zod";

/** Files, for the API reference. */
const unixSeconds = z.int().describe("Unix seconds.");

export const fileSchema = z.looseObject({
  id: z.string().describe("`file-…`"),
  object: z.literal("file"),
  bytes: z.int(),
  created_at: unixSeconds,
  filename: z.string(),
  purpose: z.string(),
  status: z.literal("processed"),
  expires_at: unixSeconds.optional().describe("Absent: it does not expire."),
});

export const fileListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(fileSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable().describe("Value of `after` for the next page."),
});

export const fileDeletedSchema = z.looseObject({
  id: z.string(),
  object: z.literal("file"),
  deleted: z.literal(true),
});
