import { assetAnswer, groupAnswer } from "#assets/index.ts";
import { wholeOf } from "#bodies/index.ts";
import { type Asset, abortSignalOf, bounds, Failure, type Principal } from "#core/index.ts";
import { type JsonObject, parseBounded } from "#protocols/index.ts";
import { admitted, admittedWithKey, withKey } from "../authenticated.ts";
import { controlBody, isJsonType, readJsonPieces } from "../body.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { idBehind, pageAnswer, readPage, requireId } from "../request-parts.ts";
import { uploadAsset } from "./upload-asset.ts";

/** POST /v1/asset-groups: a container for reusable media. */
export const createAssetGroup = admittedWithKey(async (dependencies, exchange, principal) => {
  const value = await readControlObject(dependencies, exchange, principal);
  const signal = abortSignalOf(exchange.request.signal);
  const group = await dependencies.assets.createGroup(principal.workspace.id, value, signal);
  return groupAnswer(group);
});

/** GET /v1/asset-groups: the workspace's groups, newest first; `?platform=` filters. */
export const listAssetGroups = withKey(async ({ assets }, exchange, { workspace }) => {
  const query = new URLSearchParams(exchange.query);
  const { groups, next } = await readPage(query, (after, limit) =>
    assets.groups(workspace.id, query.get("platform"), after, limit),
  );
  return pageAnswer(groups.map(groupAnswer), next);
});

export const getAssetGroup = withKey(async ({ assets }, exchange, { workspace }) =>
  groupAnswer(await assets.group(workspace.id, groupId(exchange), requirePlatform(exchange))),
);

/** DELETE /v1/asset-groups/{id}: deletes the group and its assets. */
export const deleteAssetGroup = withKey(async (dependencies, exchange, principal) => {
  const id = groupId(exchange);
  await admitted(dependencies, principal, () =>
    dependencies.assets.deleteGroup(principal.workspace.id, id, abortSignalOf(exchange.request.signal)),
  );
  return { id, object: "asset_group.deleted", deleted: true };
});

/**
 * POST /v1/assets: adds media to a group, from a public URL (JSON) or from a file (form). An uploaded file is Active in the answer;
 * an asset from a URL becomes Active or Failed later.
 */
export const createAsset: Endpoint = (dependencies, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? fetchAsset(dependencies, exchange) : uploadAsset(dependencies, exchange);
};

const fetchAsset = admittedWithKey(async (dependencies, exchange, principal) => {
  const value = await readControlObject(dependencies, exchange, principal);
  const signal = abortSignalOf(exchange.request.signal);
  const asset = await dependencies.assets.createAsset(principal.workspace.id, value, signal);
  return answer(dependencies, asset);
});

/** GET /v1/assets: newest first; `?platform=`, `?group_id=` and `?status=` filter. */
export const listAssets = withKey(async (dependencies, exchange, { workspace }) => {
  const query = new URLSearchParams(exchange.query);
  const filter = { platform: query.get("platform"), groupId: query.get("group_id"), status: query.get("status") };
  const { assets, next } = await readPage(query, (after, limit) =>
    dependencies.assets.assets(workspace.id, filter, after, limit),
  );
  return pageAnswer(
    assets.map((asset) => answer(dependencies, asset)),
    next,
  );
});

export const getAsset = withKey(async (dependencies, exchange, { workspace }) => {
  const asset = await dependencies.assets.asset(workspace.id, assetId(exchange), requirePlatform(exchange));
  return answer(dependencies, asset);
});

export const deleteAsset = withKey(async (dependencies, exchange, principal) => {
  const id = assetId(exchange);
  await admitted(dependencies, principal, () =>
    dependencies.assets.deleteAsset(principal.workspace.id, id, abortSignalOf(exchange.request.signal)),
  );
  return { id, object: "asset.deleted", deleted: true };
});

/** GET /v1/blobs/{hash}: bytes behind a signed URL that expires. The signature replaces a key. */
export const getBlob: Endpoint = async (dependencies, exchange) => {
  const { request, query, requestId } = exchange;
  const id = idBehind("/v1/blobs/", exchange);
  const notFound = new Failure("not_found", "There is nothing here.");
  if (!/^[0-9a-f]{64}$/.test(id)) throw notFound;
  const blob = await dependencies.assets.readBlob(id, new URLSearchParams(query), request.headers.get("range"));
  if (blob.status === 404) throw notFound;
  const body = request.method === "HEAD" ? null : blob.body;
  return new Response(body, { status: blob.status, headers: { ...blob.headers, "x-request-id": requestId } });
};

function answer({ assets }: ApiDependencies, asset: Asset): object {
  return assetAnswer(asset, assets.urlOf(asset));
}

/** The small JSON body of a call that creates something. Throws Failure invalid_json, and what `readJsonPieces` throws. */
async function readControlObject(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
): Promise<JsonObject> {
  const place = dependencies.memory.open(principal, "request");
  try {
    const bytes = wholeOf(await readJsonPieces(dependencies, exchange, place, controlBody));
    // Parsed on the event loop, so the number of values is bounded.
    return parseBounded(bytes, { values: bounds.plainValuesMax, members: bounds.plainMembersMax });
  } finally {
    place.release();
  }
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
