import { assetAnswer, groupAnswer } from "#assets/index.ts";
import { wholeOf } from "#bodies/index.ts";
import { type Asset, abortSignalOf, bounds, Failure, type Principal } from "#core/index.ts";
import { type JsonObject, parseBounded } from "#protocols/index.ts";
import { admitted, withKey } from "../authenticated.ts";
import { controlBody, isJsonType, readJsonPieces, withPlace } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { idBehind, pageAnswer, readPage, requireId } from "../request-parts.ts";
import { uploadAsset } from "./upload-asset.ts";

/** POST /v1/asset-groups: a container for reusable media. */
export const createAssetGroup = withKey((exchange, principal) =>
  create(exchange, principal, async (value, signal) =>
    groupAnswer(await exchange.dependencies.assets.createGroup(principal.workspace.id, value, signal)),
  ),
);

/** GET /v1/asset-groups: the workspace's groups, newest first; `?platform=` filters. */
export const listAssetGroups = withKey(async ({ dependencies, query }, { workspace }) => {
  const read = new URLSearchParams(query);
  const { groups, next } = await readPage(read, (after, limit) =>
    dependencies.assets.groups(workspace.id, read.get("platform"), after, limit),
  );
  return pageAnswer(groups.map(groupAnswer), next);
});

export const getAssetGroup = withKey(async (exchange, { workspace }) => {
  const { assets } = exchange.dependencies;
  return groupAnswer(await assets.group(workspace.id, groupId(exchange), requirePlatform(exchange)));
});

/** DELETE /v1/asset-groups/{id}: deletes the group and its assets. */
export const deleteAssetGroup = withKey(async (exchange, principal) => {
  const id = groupId(exchange);
  const { dependencies, request } = exchange;
  await admitted(exchange, principal, () =>
    dependencies.assets.deleteGroup(principal.workspace.id, id, abortSignalOf(request.signal)),
  );
  return { id, object: "asset_group.deleted", deleted: true };
});

/**
 * POST /v1/assets: adds media to a group, from a public URL (JSON) or from a file (form). An uploaded file is Active in the answer;
 * an asset from a URL becomes Active or Failed later.
 */
export const createAsset: Endpoint = (exchange) =>
  isJsonType(exchange.request.headers.get("content-type")) ? fetchAsset(exchange) : uploadAsset(exchange);

const fetchAsset = withKey((exchange, principal) =>
  create(exchange, principal, async (value, signal) =>
    answer(exchange, await exchange.dependencies.assets.createAsset(principal.workspace.id, value, signal)),
  ),
);

/** GET /v1/assets: newest first; `?platform=`, `?group_id=` and `?status=` filter. */
export const listAssets = withKey(async (exchange, { workspace }) => {
  const query = new URLSearchParams(exchange.query);
  const filter = { platform: query.get("platform"), groupId: query.get("group_id"), status: query.get("status") };
  const { assets, next } = await readPage(query, (after, limit) =>
    exchange.dependencies.assets.assets(workspace.id, filter, after, limit),
  );
  const data = assets.map((asset) => answer(exchange, asset));
  return pageAnswer(data, next);
});

export const getAsset = withKey(async (exchange, { workspace }) => {
  const { assets } = exchange.dependencies;
  return answer(exchange, await assets.asset(workspace.id, assetId(exchange), requirePlatform(exchange)));
});

export const deleteAsset = withKey(async (exchange, principal) => {
  const id = assetId(exchange);
  const { dependencies, request } = exchange;
  await admitted(exchange, principal, () =>
    dependencies.assets.deleteAsset(principal.workspace.id, id, abortSignalOf(request.signal)),
  );
  return { id, object: "asset.deleted", deleted: true };
});

/** GET /v1/blobs/{hash}: bytes behind a signed URL that expires. The signature replaces a key. */
export const getBlob: Endpoint = async (exchange) => {
  const { dependencies, request, query } = exchange;
  const id = idBehind("/v1/blobs/", exchange);
  const notFound = new Failure("not_found", "There is nothing here.");
  if (!/^[0-9a-f]{64}$/.test(id)) throw notFound;
  const blob = await dependencies.assets.readBlob(id, new URLSearchParams(query), request.headers.get("range"));
  if (blob.status === 404) throw notFound;
  return new Response(request.method === "HEAD" ? null : blob.body, blob);
};

function answer({ dependencies: { assets } }: Exchange, asset: Asset): object {
  return assetAnswer(asset, assets.urlOf(asset));
}

/** Creates something described by a small JSON body. Throws Failure invalid_json, and what `readJsonPieces` throws. */
function create(
  exchange: Exchange,
  principal: Principal,
  act: (value: JsonObject, signal: AbortSignal) => Promise<object>,
): Promise<object> {
  return admitted(exchange, principal, async () => {
    const value = await withPlace(exchange, principal, async (place) => {
      const bytes = wholeOf(await readJsonPieces(exchange, place, controlBody));
      // Parsed on the event loop, so the number of values is bounded.
      return parseBounded(bytes, { values: bounds.plainValuesMax, members: bounds.plainMembersMax });
    });
    return await act(value, abortSignalOf(exchange.request.signal));
  });
}

function requirePlatform({ query }: Exchange): string {
  const platform = new URLSearchParams(query).get("platform");
  if (platform !== null && platform !== "") return platform;
  throw new Failure("missing_required_parameter", 'The query parameter "platform" is missing.', { param: "platform" });
}

function groupId(exchange: Exchange): string {
  return requireId(idBehind("/v1/asset-groups/", exchange), "ag_", "asset_group_not_found");
}

function assetId(exchange: Exchange): string {
  return requireId(idBehind("/v1/assets/", exchange), "as_", "asset_not_found");
}
