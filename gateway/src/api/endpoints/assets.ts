import { assetAnswer } from "#assets/index.ts";
import { abortSignalOf, Failure } from "#core/index.ts";
import { admitted } from "../admitted.ts";
import { authenticated } from "../authenticated.ts";
import { isJsonType } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { askPage, pageAnswer } from "../page-query.ts";
import { idInPath, requireId } from "../path-ids.ts";
import { json } from "../respond.ts";
import { readControlObject, requirePlatform } from "./asset-groups.ts";
import { uploadAsset } from "./upload-asset.ts";

export const assetsPath = "/v1/assets";

/**
 * POST /v1/assets: takes material into a group, from a public URL in JSON, or from a file in a form. One that is fetched is polled
 * until Active or Failed; a file that was uploaded is Active.
 */
export const createAsset: Endpoint = (dependencies, exchange) => {
  const isJson = isJsonType(exchange.request.headers.get("content-type"));
  return isJson ? fetchAsset(dependencies, exchange) : uploadAsset(dependencies, exchange);
};

const fetchAsset: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  return admitted(dependencies, principal, async () => {
    const value = await readControlObject(dependencies, exchange, principal);
    const signal = abortSignalOf(exchange.request.signal);
    const asset = await dependencies.assets.createAsset(principal.workspace.id, value, signal);
    return json(assetAnswer(asset, dependencies.assets.urlOf(asset)), exchange.requestId);
  });
};

/** GET /v1/assets: newest first; `?platform=`, `?group_id=` and `?status=` filter. */
export const listAssets: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const query = new URLSearchParams(exchange.query);
  const asked = { platform: query.get("platform"), groupId: query.get("group_id"), status: query.get("status") };
  const { assets, next } = await askPage(query, (after, limit) =>
    dependencies.assets.assets(principal.workspace.id, asked, after, limit),
  );
  const data = assets.map((asset) => assetAnswer(asset, dependencies.assets.urlOf(asset)));
  return json(pageAnswer(data, next), exchange.requestId);
};

/** GET /v1/assets/{id}?platform= */
export const getAsset: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const asset = await dependencies.assets.asset(principal.workspace.id, assetId(exchange), requirePlatform(exchange));
  return json(assetAnswer(asset, dependencies.assets.urlOf(asset)), exchange.requestId);
};

/** DELETE /v1/assets/{id} */
export const deleteAsset: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const id = assetId(exchange);
  await admitted(dependencies, principal, () =>
    dependencies.assets.deleteAsset(principal.workspace.id, id, abortSignalOf(exchange.request.signal)),
  );
  return json({ id, object: "asset.deleted", deleted: true }, exchange.requestId);
};

export const blobsPath = "/v1/blobs/";

/** GET /v1/blobs/{hash}: bytes behind a signed, expiring URL. No key: the signature is the right. */
export const getBlob: Endpoint = async (dependencies, exchange) => {
  const { request, path, query, requestId } = exchange;
  const { id } = idInPath(path, blobsPath);
  if (!/^[0-9a-f]{64}$/.test(id)) throw nothingHere();
  exchange.patient();
  const blob = await dependencies.assets.readBlob(id, new URLSearchParams(query), request.headers.get("range"));
  if (blob.status === 404) throw nothingHere();
  const body = request.method === "HEAD" ? null : blob.body;
  return new Response(body, { status: blob.status, headers: { ...blob.headers, "x-request-id": requestId } });
};

function nothingHere(): Failure {
  return new Failure("not_found", "There is nothing here.");
}

function assetId({ path }: Exchange): string {
  return requireId(idInPath(path, `${assetsPath}/`).id, "as_", "asset_not_found");
}
