import type { RequestField, RequestFields } from "./request-fields.ts";

const platform = {
  required: true,
  examples: ["local", "volcengine", "byteplus"],
  description:
    "Where it is stored: by the gateway (`local`) or in a vendor's asset library (`volcengine`, `byteplus`). Any other value returns 404.",
} as const satisfies RequestField;

/** POST /v1/asset-groups. */
export const assetGroupFields = {
  platform,
  name: { type: "string", required: true, minLength: 1, maxLength: 64 },
  description: { type: "string", maxLength: 300 },
  project_name: {
    type: "string",
    maxLength: 64,
    description: "Project in the vendor's library. Default: the project of the account, or else `default`.",
  },
} as const satisfies RequestFields;

/** POST /v1/assets. */
export const assetFields = {
  platform: { ...platform, description: "The platform of the group." },
  group_id: { type: "string", required: true, minLength: 1, maxLength: 64 },
  asset_type: {
    type: "string",
    required: true,
    enum: ["Image", "Video", "Audio"],
    must: "must be Image, Video or Audio (case-sensitive)",
  },
  url: {
    type: "string",
    required: true,
    maxLength: 8_192,
    examples: ["https://example.com/hero.png"],
    description: "A public http or https URL.",
  },
  name: { type: "string", maxLength: 64 },
} as const satisfies RequestFields;
