import type { RequestField, RequestFields } from "./request-fields.ts";

const platform = {
  required: true,
  examples: ["local", "volcengine", "byteplus"],
  description:
    "Where it lives: in the gateway's own store (`local`), or in the asset library of an upstream (`volcengine`, `byteplus`). Another is a 404.",
} as const satisfies RequestField;

/** Of POST /v1/asset-groups. */
export const assetGroupFields = {
  platform,
  name: { type: "string", required: true, minLength: 1, maxLength: 64 },
  description: { type: "string", maxLength: 300 },
  project_name: {
    type: "string",
    maxLength: 64,
    description: "Of the library; default: the account's own, else `default`.",
  },
} as const satisfies RequestFields;

/** Of POST /v1/assets. */
export const assetFields = {
  platform: { ...platform, description: "That of the group." },
  group_id: { type: "string", required: true, minLength: 1, maxLength: 64 },
  asset_type: {
    type: "string",
    required: true,
    enum: ["Image", "Video", "Audio"],
    must: "must be Image, Video or Audio, written like that",
  },
  url: {
    type: "string",
    required: true,
    maxLength: 8_192,
    examples: ["https://example.com/hero.png"],
    description: "Public, http or https.",
  },
  name: { type: "string", maxLength: 64 },
} as const satisfies RequestFields;
