import { z } from "zod";

/** Asset groups and assets, for the API reference. */
const unixSeconds = z.int().describe("Unix seconds.");
const platform = z
  .enum(["local", "volcengine", "byteplus"])
  .describe("Where it is stored: by the gateway, or in a vendor's asset library.");
const assetType = z.enum(["Image", "Video", "Audio"]);
const assetStatus = z.enum(["Processing", "Active", "Failed"]);

export const assetGroupSchema = z.looseObject({
  id: z.string().describe("`ag_…`"),
  group_id: z.string().describe("Same as `id`."),
  object: z.literal("asset_group"),
  platform,
  name: z.string(),
  description: z.string(),
  project_name: z.string(),
  created_at: unixSeconds,
  updated_at: unixSeconds,
});

export const assetSchema = z.looseObject({
  id: z.string().describe("`as_…`. Tasks refer to it as `asset://<id>`."),
  asset_id: z.string().describe("Same as `id`."),
  object: z.literal("asset"),
  platform,
  group_id: z.string(),
  name: z.string(),
  asset_type: assetType,
  url: z
    .string()
    .nullable()
    .describe(
      "Signed URL of the stored file, which expires; or else the URL that it was created from. null: the file was uploaded, and the gateway has no public URL.",
    ),
  status: assetStatus,
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  size_bytes: z.int().nullable().describe("null: the file is not stored by the gateway."),
  content_type: z.string().nullable(),
  created_at: unixSeconds,
  updated_at: unixSeconds,
});

const page = { has_more: z.boolean(), next: z.string().nullable().describe("Value of `after` for the next page.") };

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
