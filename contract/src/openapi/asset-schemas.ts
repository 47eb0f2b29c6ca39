import { z } from "zod";

/** Groups and assets as the API reference shows them. */
const unixSeconds = z.int().describe("Unix seconds.");
const platform = z
  .enum(["local", "volcengine", "byteplus"])
  .describe("Where it lives: in the gateway's own store, or in the asset library of an upstream.");
const assetType = z.enum(["Image", "Video", "Audio"]);
const assetStatus = z.enum(["Processing", "Active", "Failed"]);

export const assetGroupSchema = z.looseObject({
  id: z.string().describe("`ag_…`"),
  group_id: z.string().describe("The same."),
  object: z.literal("asset_group"),
  platform,
  name: z.string(),
  description: z.string(),
  project_name: z.string(),
  created_at: unixSeconds,
  updated_at: unixSeconds,
});

export const assetSchema = z.looseObject({
  id: z.string().describe("`as_…`; a task refers to it as `asset://<id>`."),
  asset_id: z.string().describe("The same."),
  object: z.literal("asset"),
  platform,
  group_id: z.string(),
  name: z.string(),
  asset_type: assetType,
  url: z
    .string()
    .nullable()
    .describe(
      "A signed, expiring address of the stored bytes where there is one, else where it came from; null for a file that was uploaded to a gateway without a public address.",
    ),
  status: assetStatus,
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  size_bytes: z.int().nullable().describe("Null where the bytes are not kept here."),
  content_type: z.string().nullable(),
  created_at: unixSeconds,
  updated_at: unixSeconds,
});

const page = { has_more: z.boolean(), next: z.string().nullable().describe("Goes into `after` for the next page.") };

export const assetGroupListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(assetGroupSchema).describe("Newest first."),
  ...page,
});

export const assetListSchema = z.looseObject({
  object: z.literal("list"),
  data: z.array(assetSchema).describe("Newest first."),
  ...page,
});

export const deletedSchema = z.looseObject({
  id: z.string(),
  object: z.enum(["asset_group.deleted", "asset.deleted"]),
  deleted: z.literal(true),
});
