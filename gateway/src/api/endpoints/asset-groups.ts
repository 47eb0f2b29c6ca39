import { groupAnswer } from "#assets/index.ts";
import { abortSignalOf, bounds, Failure, type HeldMemory, type Principal } from "#core/index.ts";
import { type JsonObject, parseSmall, type ScanLimits } from "#protocols/index.ts";
import { admitted } from "../admitted.ts";
import { authenticated } from "../authenticated.ts";
import { readJsonBody } from "../body.ts";
import { type BodyRules, controlBody } from "../body-rules.ts";
import type { ApiDependencies, Endpoint, Exchange } from "../dependencies.ts";
import { askPage, pageAnswer } from "../page-query.ts";
import { idInPath, requireId } from "../path-ids.ts";
import { json } from "../respond.ts";

interface ReadObject {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: JsonObject;
}

/** What is built as a value on the event loop holds few of them: names, settings, addresses. */
const limits: ScanLimits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };

/** A JSON body as a value. Throws Failure invalid_json, and what reading it throws. */
async function readJsonObject(
  dependencies: ApiDependencies,
  exchange: Exchange,
  place: HeldMemory,
  rules: BodyRules,
): Promise<ReadObject> {
  const bytes = await readJsonBody(dependencies, exchange, place, rules);
  return { bytes, text: new TextDecoder().decode(bytes), value: parseSmall(bytes, limits) };
}

/** The body of a call that makes something small. */
export async function readControlObject(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
): Promise<JsonObject> {
  const place = dependencies.memory.open(principal, "request");
  try {
    return (await readJsonObject(dependencies, exchange, place, controlBody)).value;
  } finally {
    place.release();
  }
}

export const assetGroupsPath = "/v1/asset-groups";

/** POST /v1/asset-groups: a container for reusable material. */
export const createAssetGroup: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  return admitted(dependencies, principal, async () => {
    const value = await readControlObject(dependencies, exchange, principal);
    const signal = abortSignalOf(exchange.request.signal);
    const group = await dependencies.assets.createGroup(principal.workspace.id, value, signal);
    return json(groupAnswer(group), exchange.requestId);
  });
};

/** GET /v1/asset-groups: the workspace's groups, newest first; `?platform=` filters. */
export const listAssetGroups: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const query = new URLSearchParams(exchange.query);
  const { groups, next } = await askPage(query, (after, limit) =>
    dependencies.assets.groups(principal.workspace.id, query.get("platform"), after, limit),
  );
  return json(pageAnswer(groups.map(groupAnswer), next), exchange.requestId);
};

/** GET /v1/asset-groups/{id}?platform= */
export const getAssetGroup: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const group = await dependencies.assets.group(principal.workspace.id, groupId(exchange), requirePlatform(exchange));
  return json(groupAnswer(group), exchange.requestId);
};

/** DELETE /v1/asset-groups/{id}: with everything in it. */
export const deleteAssetGroup: Endpoint = async (dependencies, exchange) => {
  const principal = await authenticated(dependencies, exchange);
  const id = groupId(exchange);
  await admitted(dependencies, principal, () =>
    dependencies.assets.deleteGroup(principal.workspace.id, id, abortSignalOf(exchange.request.signal)),
  );
  return json({ id, object: "asset_group.deleted", deleted: true }, exchange.requestId);
};

export function requirePlatform({ query }: Exchange): string {
  const platform = new URLSearchParams(query).get("platform");
  if (platform !== null && platform !== "") return platform;
  throw new Failure("missing_required_parameter", 'The query parameter "platform" is missing.', { param: "platform" });
}

function groupId({ path }: Exchange): string {
  return requireId(idInPath(path, `${assetGroupsPath}/`).id, "ag_", "asset_group_not_found");
}
