import { assetFields, assetGroupFields } from "@sluice/contract/words";
import {
  type Asset,
  type AssetGroup,
  type AssetType,
  checkFields,
  Failure,
  invalidRequest,
  type PlatformId,
  platformIds,
} from "#core/index.ts";
import { fetchProblem, urlProblem } from "./fetch-asset.ts";
import type { MediaType } from "./media-type.ts";

/** The caller's JSON, not validated yet. */
export type CallBody = Readonly<Record<string, unknown>>;

/** The validated form fields next to a file. */
export interface UploadFields {
  readonly platform: string | null;
  readonly groupId: string | null;
  readonly type: string | null;
  readonly name: string | null;
}

/** `projectName` null: the platform's default. */
export function readGroupCall(body: CallBody) {
  const fields = checkFields(body, assetGroupFields);
  return {
    platform: readPlatform(fields.platform),
    name: readName(fields.name, "name"),
    // Line breaks and tabs are allowed.
    description: withoutControls(fields.description ?? "", "description", /[^\P{Cc}\n\r\t]/u),
    projectName: fields.project_name ? readName(fields.project_name, "project_name") : null,
  };
}

export function readAssetCall(body: CallBody) {
  const fields = checkFields(body, assetFields);
  const { url } = fields;
  if (url === "") throw new Failure("missing_required_parameter", "url is missing.", { param: "url" });
  const platform = readPlatform(fields.platform);
  const groupId = readName(fields.group_id, "group_id");
  // A library validates the URLs that it fetches itself.
  const problem = platform === "local" ? fetchProblem(url) : urlProblem(url);
  if (problem !== null) throw invalidRequest("url", `url ${problem}.`);
  return {
    platform,
    groupId,
    type: fields.asset_type as AssetType,
    url,
    name: withoutControls(fields.name ?? "", "name"),
  };
}

/** `media` is the detected type of the file; `type` is optional and must match it. */
export function readUpload({ platform, groupId, type, name }: UploadFields, media: MediaType) {
  const named = readPlatform(platform || "local");
  if (named !== "local") {
    throw invalidRequest("platform", `Files can be uploaded only to the platform local. For ${named}, send a url.`);
  }
  if (type && type !== media.type) {
    throw invalidRequest("asset_type", `asset_type is ${type}, but the file is ${media.contentType}.`);
  }
  return { groupId: readName(groupId ?? "", "group_id"), name: withoutControls(name ?? "", "name") };
}

/** Throws missing_required_parameter or not_found. */
export function readPlatform(value: unknown): PlatformId {
  if (value === "") throw new Failure("missing_required_parameter", "platform is missing.", { param: "platform" });
  const platform = platformIds.find((id) => id === value);
  if (platform !== undefined) return platform;
  throw new Failure("not_found", `Unknown platform. Use one of: ${platformIds.join(", ")}.`, {
    param: "platform",
  });
}

function readName(text: string, param: string): string {
  if (text.trim() === "") throw invalidRequest(param, `${param} must not be blank.`);
  return withoutControls(text, param);
}

function withoutControls(text: string, param: string, controls = /\p{Cc}/u): string {
  if (controls.test(text)) throw invalidRequest(param, `${param} contains a control character.`);
  return text;
}

/** A group in the API. Times are Unix seconds. */
export function groupAnswer(group: AssetGroup): Record<string, unknown> {
  return {
    id: group.id,
    group_id: group.id,
    object: "asset_group",
    platform: group.platform,
    name: group.name,
    description: group.description,
    project_name: group.projectName,
    created_at: seconds(group.createdAt),
    updated_at: seconds(group.updatedAt),
  };
}

/** An asset in the API. `url` null: its bytes are not available. */
export function assetAnswer(asset: Asset, url: string | null): Record<string, unknown> {
  return {
    id: asset.id,
    asset_id: asset.id,
    object: "asset",
    platform: asset.platform,
    group_id: asset.groupId,
    name: asset.name,
    asset_type: asset.type,
    url,
    status: asset.status,
    error: asset.error === null ? null : { code: asset.error.code, message: asset.error.message },
    size_bytes: asset.sizeBytes,
    content_type: asset.contentType,
    created_at: seconds(asset.createdAt),
    updated_at: seconds(asset.updatedAt),
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
