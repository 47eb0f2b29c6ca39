import { assetFields, assetGroupFields } from "@sluice/contract/words";
import {
  type Asset,
  type AssetGroup,
  type AssetType,
  checkFields,
  Failure,
  type PlatformId,
  platformIds,
} from "#core/index.ts";
import type { MediaType } from "./media-type.ts";
import { addressProblem, fetchProblem } from "./take-in.ts";

/** As the caller sent it: any value may stand anywhere. */
export type CallBody = Readonly<Record<string, unknown>>;

/** What stands beside a file in its form, which was checked as it came. */
export interface UploadFields {
  readonly platform: string | null;
  readonly groupId: string | null;
  readonly type: string | null;
  readonly name: string | null;
}

/** `projectName` null: whichever is usual where it goes. */
export function readGroupCall(body: CallBody) {
  const said = checkFields(body, assetGroupFields);
  return {
    platform: readPlatform(said.platform),
    name: readName(said.name, "name"),
    // Line breaks and tabs may stand in it.
    description: withoutControls(said.description ?? "", "description", /[^\P{Cc}\n\r\t]/u),
    projectName: said.project_name ? readName(said.project_name, "project_name") : null,
  };
}

export function readAssetCall(body: CallBody) {
  const said = checkFields(body, assetFields);
  const { url } = said;
  if (url === "") throw new Failure("missing_required_parameter", "url is missing.", { param: "url" });
  const platform = readPlatform(said.platform);
  const groupId = readName(said.group_id, "group_id");
  // What an upstream's library fetches is for the library to judge.
  const problem = platform === "local" ? fetchProblem(url) : addressProblem(url);
  if (problem !== null) throw invalid("url", `url ${problem}.`);
  return { platform, groupId, type: said.asset_type as AssetType, url, name: withoutControls(said.name ?? "", "name") };
}

/** `media`: what the file is. It need not be said, and must be right where it is. */
export function readUpload({ platform, groupId, type, name }: UploadFields, media: MediaType) {
  const named = readPlatform(platform || "local");
  if (named !== "local") {
    throw invalid(
      "platform",
      `A file can be uploaded to the platform local only; to ${named} material is given by url.`,
    );
  }
  if (type && type !== media.type) {
    throw invalid("asset_type", `asset_type is ${type}, but the file is ${media.contentType}.`);
  }
  return { groupId: readName(groupId ?? "", "group_id"), name: withoutControls(name ?? "", "name") };
}

/** Throws missing_required_parameter when there is none, not_found when nothing is called so. */
export function readPlatform(value: unknown): PlatformId {
  if (value === "") throw new Failure("missing_required_parameter", "platform is missing.", { param: "platform" });
  const platform = platformIds.find((id) => id === value);
  if (platform !== undefined) return platform;
  throw new Failure("not_found", `There is no such platform; there are ${platformIds.join(", ")}.`, {
    param: "platform",
  });
}

function readName(text: string, param: string): string {
  if (text.trim() === "") throw invalid(param, `${param} must not be blank.`);
  return withoutControls(text, param);
}

function withoutControls(text: string, param: string, controls = /\p{Cc}/u): string {
  if (controls.test(text)) throw invalid(param, `${param} holds a control character.`);
  return text;
}

function invalid(param: string, message: string): Failure {
  return new Failure("invalid_request", message, { param });
}

/** A group as callers see it. Times are Unix seconds. */
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

/** An asset as callers see it; `url` is where its bytes can be had now, null when nowhere. */
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
