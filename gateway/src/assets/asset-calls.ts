import { assetFields, assetGroupFields } from "@sluice/contract/words";
import {
  type Asset,
  type AssetGroup,
  type AssetType,
  bounds,
  checkFields,
  Failure,
  type PlatformId,
  platformIds,
} from "#core/index.ts";
import type { MediaType } from "./media-type.ts";
import { addressProblem, fetchProblem } from "./web-address.ts";

/** Characters, as is assetNameCharactersMax. */
const assetDescriptionCharactersMax = assetGroupFields.description.maxLength;

/** As the caller sent it: any value may stand anywhere. */
export interface GroupCall {
  readonly workspaceId: string;
  readonly platform: unknown;
  readonly name: unknown;
  readonly description: unknown;
  readonly projectName: unknown;
  readonly signal: AbortSignal;
}

export interface AssetCall {
  readonly workspaceId: string;
  readonly platform: unknown;
  readonly groupId: unknown;
  readonly url: unknown;
  readonly type: unknown;
  readonly name: unknown;
  readonly signal: AbortSignal;
}

interface NewGroupRequest {
  readonly platform: PlatformId;
  readonly name: string;
  readonly description: string;
  /** null: whichever is usual where it goes. */
  readonly projectName: string | null;
}

interface NewAssetRequest {
  readonly platform: PlatformId;
  readonly groupId: string;
  readonly url: string;
  readonly type: AssetType;
  readonly name: string;
}

/** A file and what was written beside it. */
export interface UploadCall {
  readonly workspaceId: string;
  readonly platform: string | null;
  readonly groupId: string | null;
  readonly type: string | null;
  readonly name: string | null;
  readonly signal: AbortSignal;
}

export interface UploadRequest {
  readonly groupId: string;
  readonly name: string;
}

const names = { least: 1, most: bounds.assetNameCharactersMax, forbidden: /\p{Cc}/u };
/** Of a description: line breaks and tabs may stand in it. */
const texts = { least: 0, most: assetDescriptionCharactersMax, forbidden: /[^\P{Cc}\n\r\t]/u };

export function readGroupCall(call: GroupCall): NewGroupRequest {
  checkFields({ ...call, project_name: absent(call.projectName) ? null : call.projectName }, assetGroupFields);
  return {
    platform: readPlatform(call.platform),
    name: readText(required(call.name, "name"), "name", names),
    description: readText(call.description ?? "", "description", texts),
    projectName: absent(call.projectName) ? null : readText(call.projectName, "project_name", names),
  };
}

export function readAssetCall(call: AssetCall): NewAssetRequest {
  checkFields({ ...call, group_id: call.groupId, asset_type: call.type }, assetFields);
  const platform = readPlatform(call.platform);
  const groupId = readText(required(call.groupId, "group_id"), "group_id", names);
  const type = readType(required(call.type, "asset_type"));
  const url = required(call.url, "url");
  if (typeof url !== "string") throw invalid("url", "url must be a text.");
  // What an upstream's library fetches is for the library to judge.
  const problem = platform === "local" ? fetchProblem(url) : addressProblem(url);
  if (problem !== null) throw invalid("url", `url ${problem}.`);
  return { platform, groupId, type, url, name: readText(call.name ?? "", "name", { ...names, least: 0 }) };
}

/** `media`: what the file is. It need not be said, and must be right where it is. */
export function readUploadCall(call: UploadCall, media: MediaType): UploadRequest {
  const platform = readPlatform(call.platform || "local");
  if (platform !== "local") {
    throw invalid(
      "platform",
      `A file can be uploaded to the platform local only; to ${platform} material is given by url.`,
    );
  }
  const groupId = readText(required(call.groupId, "group_id"), "group_id", names);
  if (!absent(call.type)) {
    const type = readType(call.type);
    if (type !== media.type)
      throw invalid("asset_type", `asset_type is ${type}, but the file is ${media.contentType}.`);
  }
  return { groupId, name: readText(call.name ?? "", "name", { ...names, least: 0 }) };
}

function readType(value: unknown): AssetType {
  if (value === "Image" || value === "Video" || value === "Audio") return value;
  throw invalid("asset_type", "asset_type must be Image, Video or Audio, written like that.");
}

/** Throws missing_required_parameter when there is none, not_found when nothing is called so. */
export function readPlatform(value: unknown): PlatformId {
  const text = required(value, "platform");
  const platform = platformIds.find((id) => id === text);
  if (platform !== undefined) return platform;
  throw new Failure("not_found", `There is no such platform; there are ${platformIds.join(", ")}.`, {
    param: "platform",
  });
}

/**
 * The platform of a look at one thing. null: a platform that does not exist, on which the thing cannot be either, so that
 * the answer is that of a missing thing.
 */
export function readPlatformOfPoll(value: string | null): PlatformId | null {
  const text = required(value, "platform");
  return platformIds.find((id) => id === text) ?? null;
}

function absent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function required(value: unknown, param: string): unknown {
  if (!absent(value)) return value;
  throw new Failure("missing_required_parameter", `${param} is missing.`, { param });
}

interface TextRule {
  readonly least: number;
  readonly most: number;
  readonly forbidden: RegExp;
}

function readText(value: unknown, param: string, { least, most, forbidden }: TextRule): string {
  if (typeof value !== "string") throw invalid(param, `${param} must be a text.`);
  // A character has at most two code units: what is far too long is not counted.
  const length = value.length > most * 2 ? value.length : [...value].length;
  if (length > most || length < least || (least > 0 && value.trim() === "")) {
    throw invalid(param, `${param} must have ${least} to ${most} characters.`);
  }
  if (forbidden.test(value)) throw invalid(param, `${param} holds a control character.`);
  return value;
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
