import type { Asset, AssetGroup } from "#core/index.ts";

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
