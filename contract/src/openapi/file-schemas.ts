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

const isoTime = z.string().describe("RFC 3339.");

export const anthropicFileSchema = z.looseObject({
  id: z.string().describe("`file_…`"),
  type: z.literal("file"),
  filename: z.string(),
  mime_type: z.string(),
  size_bytes: z.int(),
  created_at: isoTime,
  downloadable: z.boolean(),
  expires_at: isoTime.nullable(),
});

export const anthropicFileListSchema = z.looseObject({
  data: z.array(anthropicFileSchema),
  has_more: z.boolean(),
  next_page: z.string().nullable().describe("Value of `page` for the next page."),
});

export const anthropicFileDeletedSchema = z.looseObject({ id: z.string(), type: z.literal("file_deleted") });

export const geminiFileSchema = z.looseObject({
  name: z.string().describe("`files/…`"),
  displayName: z.string(),
  mimeType: z.string(),
  sizeBytes: z.string(),
  createTime: isoTime,
  updateTime: isoTime,
  expirationTime: isoTime.optional(),
  sha256Hash: z.string().describe("Base64."),
  uri: z.string().describe("An address of the gateway, for `fileData.fileUri`."),
  state: z.literal("ACTIVE"),
  source: z.literal("UPLOADED"),
});

export const geminiFileListSchema = z.looseObject({
  files: z.array(geminiFileSchema),
  nextPageToken: z.string().optional(),
});

export const uploadSchema = z.looseObject({
  id: z.string().describe("`upload_…`"),
  object: z.literal("upload"),
  bytes: z.int(),
  created_at: unixSeconds,
  expires_at: unixSeconds.describe("Unix seconds. Parts that are not completed by then are removed."),
  filename: z.string(),
  purpose: z.string(),
  mime_type: z.string(),
  status: z.enum(["pending", "completed", "cancelled", "expired"]),
  file: fileSchema.nullable(),
});

export const uploadPartSchema = z.looseObject({
  id: z.string().describe("`part_…`"),
  object: z.literal("upload.part"),
  created_at: unixSeconds,
  upload_id: z.string(),
});
