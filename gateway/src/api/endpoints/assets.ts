import { assetForm } from "@sluice/contract/words";
import { assetAnswer, FileJudge, groupAnswer } from "#assets/index.ts";
import { type Asset, abortSignalOf, bounds, Failure, type Principal } from "#core/index.ts";
import { type FormEvent, FormReader, type JsonObject, readMultipartType } from "#protocols/index.ts";
import { admitted, withKey } from "../authenticated.ts";
import { assetUploadBody, isJsonType, jsonOrForm, readControlJson } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { idBehind, pageAnswer, readPage, requireId } from "../request-parts.ts";
import { requirePlain, spoolForm } from "../spooled-body.ts";

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

/** POST /v1/assets with a form: the file is spooled and checked as it arrives, and is Active in the answer. */
const uploadAsset = withKey((exchange, principal) => {
  const { request, dependencies } = exchange;
  const { boundary } = readMultipartType(request.headers.get("content-type"), jsonOrForm);
  // Checked first: a refused upload counts against no limit.
  requirePlain(request.headers);
  return admitted(exchange, principal, async () => {
    const { spooled, read } = await spoolForm(exchange, boundary, principal, new UploadForm(), assetUploadBody);
    const { fields, media, start, end } = read;
    try {
      const { assets, relay } = dependencies;
      await relay.checkTexts({ requestId: exchange.requestId, principal }, fields, "assets", true);
      const file = { media, read: () => spooled.read(start, end) };
      const asset = await assets.upload(principal.workspace.id, fields, file, abortSignalOf(request.signal));
      return assetAnswer(asset, assets.urlOf(asset));
    } finally {
      spooled.discard();
    }
  });
});

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
    const value = await readControlJson(exchange, principal);
    const { dependencies, requestId } = exchange;
    await dependencies.relay.checkTexts({ requestId, principal }, value, "assets");
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

/** One file and its fields. */
class UploadForm {
  readonly #fields = new FormReader(assetForm, {});
  readonly #judge = new FileJudge();
  #filename = "";
  #span: { readonly start: number; end: number } | null = null;
  #inFile = false;

  take(event: FormEvent): void {
    this.#fields.take(event);
    if (event.kind === "part-start") this.#begin(event.head, event.start);
    if (event.kind === "part-data" && this.#inFile) this.#judge.take(event.bytes);
    if (event.kind === "part-end" && this.#inFile && this.#span !== null) this.#span.end = event.end;
    if (event.kind === "part-end") this.#inFile = false;
  }

  /** Throws Failure if the form has no file, or one that cannot be an asset. */
  end() {
    this.#fields.check();
    if (this.#span === null) throw new Failure("missing_required_parameter", "file is missing.", { param: "file" });
    const { start, end } = this.#span;
    if (start === end) throw invalid("The file is empty.");
    const text = (name: string) => this.#fields.text(name);
    const fields = {
      platform: text("platform"),
      groupId: text("group_id"),
      type: text("asset_type"),
      name: text("name") ?? nameOf(this.#filename),
    };
    return { fields, media: this.#judge.media(), start, end };
  }

  #begin({ name, filename }: { readonly name: string; readonly filename: string | null }, start: number): void {
    if (name === "url") throw invalid("A form carries a file. Send url in a JSON body.", "url");
    if (filename === null && name !== "file") return;
    if (name !== "file") throw invalid(`The file must be called file, not ${JSON.stringify(name)}.`);
    if (filename === null) throw invalid("file must be a file of the form, not a field.");
    if (this.#span !== null) throw invalid("A form can have only one file.");
    this.#filename = filename;
    this.#span = { start, end: start };
    this.#inFile = true;
  }
}

/** The file's name without folders and extension, shortened to the bound of names. */
function nameOf(filename: string): string {
  const own = filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
  const bare = own.replace(/\.[A-Za-z0-9]{1,8}$/, "").replace(/\p{Cc}/gu, " ");
  return [...bare.slice(0, bounds.assetNameCharactersMax * 2)].slice(0, bounds.assetNameCharactersMax).join("").trim();
}

function invalid(message: string, param = "file"): Failure {
  return new Failure("invalid_request", message, { param });
}
