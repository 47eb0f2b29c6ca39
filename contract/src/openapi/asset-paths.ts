import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter, pageParameters } from "./page-parameters.ts";
import type { Operation, Parameter, PathItem, Response } from "./types.ts";

/** Reusable material, in groups. */
export function assetPaths(): Record<string, PathItem> {
  return {
    "/v1/asset-groups": { post: createAssetGroup, get: listAssetGroups },
    "/v1/asset-groups/{group_id}": { get: getAssetGroup, delete: deleteAssetGroup },
    "/v1/assets": { post: createAsset, get: listAssets },
    "/v1/assets/{asset_id}": { get: getAsset, delete: deleteAsset },
  };
}

const groupId = idParameter("group_id", "`ag_…`; one of another workspace looks like a missing one.");
const assetId = idParameter("asset_id", "`as_…`; one of another workspace looks like a missing one.");

const platform: Parameter = {
  name: "platform",
  in: "query",
  required: true,
  description: "The one it was made on; on another one it is not there.",
  schema: { type: "string", enum: ["local", "volcengine", "byteplus"] },
};
const anyPlatform: Parameter = { ...platform, required: false, description: "Only those on this platform." };

interface Call extends Pick<Operation, "operationId" | "summary"> {
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly answers: string;
  readonly errors: readonly number[];
}

function call({ answers, errors, ...about }: Call): Operation {
  const good: Response = {
    description: `${answers}.`,
    headers: headersOf("plain"),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${answers}` } } },
  };
  return { ...about, tags: ["assets"], responses: { "200": good, ...errorReferences(401, 403, 405, ...errors, 500) } };
}

function creation(about: Call, schema: string, value: object): Operation {
  return {
    ...call(about),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${schema}` },
          examples: { example: { summary: "An example", value } },
        },
      },
    },
  };
}

const bodyErrors = [400, 404, 408, 413, 415, 429, 502, 503, 504];

const createAssetGroup = creation(
  {
    operationId: "createAssetGroup",
    summary: "Make a group for material",
    description: "On an upstream's platform it is made in that library too. An unknown platform is a 404.",
    answers: "AssetGroup",
    errors: bodyErrors,
  },
  "AssetGroupRequest",
  { platform: "volcengine", name: "heroes", description: "who is in the film", project_name: "default" },
);

const listAssetGroups = call({
  operationId: "listAssetGroups",
  summary: "The workspace's asset groups",
  parameters: [...pageParameters, anyPlatform],
  answers: "AssetGroupList",
  errors: [400, 404],
});

const getAssetGroup = call({
  operationId: "getAssetGroup",
  summary: "One asset group",
  parameters: [groupId, platform],
  answers: "AssetGroup",
  errors: [400, 404],
});

const deleteAssetGroup = call({
  operationId: "deleteAssetGroup",
  summary: "Delete a group with everything in it",
  description: "When the library that holds it refuses, nothing is deleted.",
  parameters: [groupId],
  answers: "Deleted",
  errors: [400, 404, 429, 502, 504],
});

const fetched = creation(
  {
    operationId: "createAsset",
    summary: "Add material to a group, by its public URL or as a file",
    description: [
      "JSON with a `url`: `Processing` at first; ask again until it is `Active` or `Failed`.",
      "A form with a `file`, into a group of the platform `local`: judged while it arrives, and `Active` in the answer.",
    ].join("\n\n"),
    answers: "Asset",
    errors: bodyErrors,
  },
  "AssetRequest",
  {
    platform: "volcengine",
    group_id: "ag_01M7YK1MQB0000F97S3E9P36EE",
    url: "https://example.com/hero.png",
    asset_type: "Image",
    name: "hero",
  },
);

const createAsset: Operation = {
  ...fetched,
  requestBody: {
    required: true,
    content: {
      ...fetched.requestBody?.content,
      "multipart/form-data": { schema: { $ref: "#/components/schemas/AssetUpload" } },
    },
  },
};

const listAssets = call({
  operationId: "listAssets",
  summary: "The workspace's assets",
  parameters: [
    ...pageParameters,
    anyPlatform,
    { name: "group_id", in: "query", description: "Only those of this group.", schema: { type: "string" } },
    {
      name: "status",
      in: "query",
      description: "Only those that stand so.",
      schema: { type: "string", enum: ["Processing", "Active", "Failed"] },
    },
  ],
  answers: "AssetList",
  errors: [400, 404],
});

const getAsset = call({
  operationId: "getAsset",
  summary: "One asset, with its status",
  description: "One that an upstream's library is processing is looked at there, unless that was a moment ago.",
  parameters: [assetId, platform],
  answers: "Asset",
  errors: [400, 404],
});

const deleteAsset = call({
  operationId: "deleteAsset",
  summary: "Delete an asset",
  description: "When the library that holds it refuses, nothing is deleted.",
  parameters: [assetId],
  answers: "Deleted",
  errors: [400, 404, 429, 502, 504],
});
