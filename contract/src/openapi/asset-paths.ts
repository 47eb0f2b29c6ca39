import { errorReferences } from "./error-responses.ts";
import { headersOf } from "./headers.ts";
import { idParameter, pageParameters } from "./page-parameters.ts";
import type { Operation, Parameter, PathItem, Response } from "./types.ts";

/** Assets and the groups that hold them. */
export function assetPaths(): Record<string, PathItem> {
  return {
    "/v1/asset-groups": { post: createAssetGroup, get: listAssetGroups },
    "/v1/asset-groups/{group_id}": { get: getAssetGroup, delete: deleteAssetGroup },
    "/v1/assets": { post: createAsset, get: listAssets },
    "/v1/assets/{asset_id}": { get: getAsset, delete: deleteAsset },
  };
}

const groupId = idParameter("group_id", "`ag_…`. An id of another workspace returns 404.");
const assetId = idParameter("asset_id", "`as_…`. An id of another workspace returns 404.");

const platform: Parameter = {
  name: "platform",
  in: "query",
  required: true,
  description: "The platform it was created on. Any other platform returns 404.",
  schema: { type: "string", enum: ["local", "volcengine", "byteplus"] },
};
const anyPlatform: Parameter = { ...platform, required: false, description: "Filter by platform." };

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
    summary: "Create an asset group",
    description:
      "On a vendor's platform the group is created in the vendor's library too. An unknown platform returns 404.",
    answers: "AssetGroup",
    errors: bodyErrors,
  },
  "AssetGroupRequest",
  { platform: "volcengine", name: "heroes", description: "who is in the film", project_name: "default" },
);

const listAssetGroups = call({
  operationId: "listAssetGroups",
  summary: "List asset groups",
  parameters: [...pageParameters, anyPlatform],
  answers: "AssetGroupList",
  errors: [400, 404],
});

const getAssetGroup = call({
  operationId: "getAssetGroup",
  summary: "Get an asset group",
  parameters: [groupId, platform],
  answers: "AssetGroup",
  errors: [400, 404],
});

const deleteAssetGroup = call({
  operationId: "deleteAssetGroup",
  summary: "Delete an asset group and its assets",
  description: "If the vendor's library refuses, nothing is deleted.",
  parameters: [groupId],
  answers: "Deleted",
  errors: [400, 404, 429, 502, 504],
});

const fetched = creation(
  {
    operationId: "createAsset",
    summary: "Create an asset from a URL or a file",
    description: [
      "JSON with a public `url`: the asset is `Processing` at first. Poll it until it is `Active` or `Failed`.",
      "A form with a `file`, for a group on the platform `local`: the file is checked during the upload and `Active` at once.",
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
  summary: "List assets",
  parameters: [
    ...pageParameters,
    anyPlatform,
    { name: "group_id", in: "query", description: "Filter by group.", schema: { type: "string" } },
    {
      name: "status",
      in: "query",
      description: "Filter by status.",
      schema: { type: "string", enum: ["Processing", "Active", "Failed"] },
    },
  ],
  answers: "AssetList",
  errors: [400, 404],
});

const getAsset = call({
  operationId: "getAsset",
  summary: "Get an asset",
  description: "While the vendor's library is processing the asset, its status is refreshed from there.",
  parameters: [assetId, platform],
  answers: "Asset",
  errors: [400, 404],
});

const deleteAsset = call({
  operationId: "deleteAsset",
  summary: "Delete an asset",
  description: "If the vendor's library refuses, nothing is deleted.",
  parameters: [assetId],
  answers: "Deleted",
  errors: [400, 404, 429, 502, 504],
});
