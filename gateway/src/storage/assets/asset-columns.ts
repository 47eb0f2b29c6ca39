import type { Asset, AssetBinding, AssetGroup, AssetStatus, AssetType, PlatformId } from "#core/index.ts";
import type { Row } from "../database/schema.ts";

type GroupRow = Row<"asset_groups">;
type AssetRow = Row<"assets">;
type BindingRow = Row<"asset_bindings">;

export function groupRow(group: AssetGroup): GroupRow {
  return {
    id: group.id,
    workspace_id: group.workspaceId,
    platform: group.platform,
    name: group.name,
    description: group.description,
    project_name: group.projectName,
    provider_id: group.providerId,
    upstream_id: group.upstreamId,
    created_at: group.createdAt,
    updated_at: group.updatedAt,
  };
}

export function groupOf(row: GroupRow): AssetGroup {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    platform: row.platform as PlatformId,
    name: row.name,
    description: row.description,
    projectName: row.project_name,
    providerId: row.provider_id,
    upstreamId: row.upstream_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function assetRow(asset: Asset): AssetRow {
  return {
    id: asset.id,
    workspace_id: asset.workspaceId,
    group_id: asset.groupId,
    platform: asset.platform,
    name: asset.name,
    type: asset.type,
    source_url: asset.sourceUrl,
    status: asset.status,
    error: errorText(asset.error),
    provider_id: asset.providerId,
    upstream_id: asset.upstreamId,
    blob_hash: asset.blobHash,
    size_bytes: asset.sizeBytes,
    content_type: asset.contentType,
    created_at: asset.createdAt,
    updated_at: asset.updatedAt,
    due_at: asset.dueAt,
  };
}

export function assetOf(row: AssetRow): Asset {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    groupId: row.group_id,
    platform: row.platform as PlatformId,
    name: row.name,
    type: row.type as AssetType,
    sourceUrl: row.source_url,
    status: row.status as AssetStatus,
    error: row.error === null ? null : JSON.parse(row.error),
    providerId: row.provider_id,
    upstreamId: row.upstream_id,
    blobHash: row.blob_hash,
    sizeBytes: row.size_bytes,
    contentType: row.content_type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    dueAt: row.due_at,
  };
}

/** The columns that a change names, and no other. */
export function assetChanges(
  change: Partial<Omit<Asset, "id" | "workspaceId" | "groupId" | "platform" | "createdAt">>,
): Partial<AssetRow> {
  return {
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.type === undefined ? {} : { type: change.type }),
    ...(change.sourceUrl === undefined ? {} : { source_url: change.sourceUrl }),
    ...(change.status === undefined ? {} : { status: change.status }),
    ...(change.error === undefined ? {} : { error: errorText(change.error) }),
    ...(change.providerId === undefined ? {} : { provider_id: change.providerId }),
    ...(change.upstreamId === undefined ? {} : { upstream_id: change.upstreamId }),
    ...(change.blobHash === undefined ? {} : { blob_hash: change.blobHash }),
    ...(change.sizeBytes === undefined ? {} : { size_bytes: change.sizeBytes }),
    ...(change.contentType === undefined ? {} : { content_type: change.contentType }),
    ...(change.updatedAt === undefined ? {} : { updated_at: change.updatedAt }),
    ...(change.dueAt === undefined ? {} : { due_at: change.dueAt }),
  };
}

export function bindingRow(binding: AssetBinding): BindingRow {
  return {
    asset_id: binding.assetId,
    provider_id: binding.providerId,
    upstream_group_id: binding.upstreamGroupId,
    upstream_id: binding.upstreamId,
    status: binding.status,
    updated_at: binding.updatedAt,
  };
}

export function bindingOf(row: BindingRow): AssetBinding {
  return {
    assetId: row.asset_id,
    providerId: row.provider_id,
    upstreamGroupId: row.upstream_group_id,
    upstreamId: row.upstream_id,
    status: row.status as AssetStatus,
    updatedAt: row.updated_at,
  };
}

function errorText(error: Asset["error"]): string | null {
  return error === null ? null : JSON.stringify(error);
}
