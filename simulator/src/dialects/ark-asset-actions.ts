import { bounds } from "../bounds.ts";
import { Refusal } from "../dialect.ts";
import { fileUrl } from "../file-url.ts";
import { type JsonObject, objectOf, stringOf } from "../json-body.ts";
import type { Script } from "../script.ts";
import { pageOf, searched } from "./ark-asset-search.ts";
import { type ArkAssetStore, type Asset, type AssetGroup, assetStatus } from "./ark-asset-store.ts";
import type { LivenessSessions } from "./ark-liveness.ts";

/** A call to the asset library: `account` signed it, and it concerns `project`. */
export interface AssetCall {
  readonly assets: ArkAssetStore;
  readonly sessions: LivenessSessions;
  readonly taskStore: { uniqueCode(length: number): string };
  readonly body: JsonObject;
  readonly account: string;
  readonly project: string;
  readonly script: Script;
  readonly base: string;
}

/** The actions; each returns its Result. Throws Refusal. */
export const assetActions: Readonly<Record<string, (call: AssetCall) => JsonObject>> = {
  CreateAssetGroup(call) {
    const type = stringOf(call.body["GroupType"]) || "AIGC";
    if (type !== "AIGC") throw refused("InvalidParameter", "GroupType: only AIGC groups can be created.");
    return { Id: addGroup(call, type, checkedName(call, true)).id };
  },
  GetAssetGroup: (call) => groupShown(groupOf(call, "Id")),
  ListAssetGroups(call) {
    requireGroupType(call);
    return pageOf(call.body, searched(groupsOf(call), call.body, groupFacts), groupShown);
  },
  UpdateAssetGroup(call) {
    const group = groupOf(call, "Id");
    const { Name, Description } = call.body;
    if (stringOf(Name) !== "") group.name = checkedName(call, false);
    if (typeof Description === "string") group.description = described(call);
    group.updatedAt = Date.now();
    return { Id: group.id };
  },
  DeleteAssetGroup(call) {
    const group = groupOf(call, "Id");
    if (group.type === "LivenessFace") {
      throw new Refusal(403, "The authorisation of this person is still valid.", { code: "AccessDenied" });
    }
    call.assets.removeGroup(group);
    return {};
  },
  CreateAsset(call) {
    const group = groupOf(call, "GroupId");
    const asset = assetFrom(call, group);
    call.assets.assets.put(asset);
    return { Id: asset.id };
  },
  GetAsset: (call) => assetShown(assetOf(call)),
  ListAssets(call) {
    requireGroupType(call);
    required(call.body, "PageNumber", "PageSize");
    return pageOf(call.body, searched(assetsOf(call), call.body, assetFacts), assetShown);
  },
  UpdateAsset(call) {
    const asset = assetOf(call);
    if (stringOf(call.body["Name"]) !== "") asset.name = checkedName(call, false);
    asset.updatedAt = Date.now();
    return { Id: asset.id };
  },
  DeleteAsset(call) {
    call.assets.assets.remove(assetOf(call).id);
    return {};
  },
  CreateVisualValidateSession({ sessions, account, project, body, base }) {
    const token = sessions.open({ account, project, callbackUrl: stringOf(body["CallbackURL"]) });
    return { BytedToken: token, H5Link: sessions.link(base, token) };
  },
  GetVisualValidateResult(call) {
    required(call.body, "BytedToken");
    const session = call.sessions.take(call.account, stringOf(call.body["BytedToken"]));
    if (session === null) throw new Refusal(404, "The token is not valid.", { code: "NotFound.byted_token" });
    return { GroupId: addGroup({ ...call, project: session.project }, "LivenessFace", "").id };
  },
};

function addGroup(call: AssetCall, type: string, name: string): AssetGroup {
  const now = Date.now();
  const group: AssetGroup = {
    id: `group-${clockMark(now)}-${call.taskStore.uniqueCode(5)}`,
    account: call.account,
    project: call.project,
    name,
    description: described(call),
    type,
    createdAt: now,
    updatedAt: now,
  };
  call.assets.groups.put(group);
  return group;
}

function assetFrom(call: AssetCall, group: AssetGroup): Asset {
  const { body } = call;
  required(body, "URL", "AssetType");
  const type = stringOf(body["AssetType"]);
  if (!["Image", "Video", "Audio"].includes(type)) {
    throw refused("InvalidParameter", "AssetType: it is one of Image, Video, Audio.");
  }
  const sourceUrl = stringOf(body["URL"]);
  if (!/^https?:\/\/[^/]/.test(sourceUrl) || sourceUrl.length > bounds.urlMax)
    throw refused("InvalidParameter", "URL: it is no public URL.");
  const moderation = stringOf(objectOf(body["Moderation"])["Strategy"]) || "Default";
  if (!["Default", "Skip"].includes(moderation)) throw refused("InvalidParameter", "Moderation.Strategy is unknown.");
  const now = Date.now();
  const id = `asset-${clockMark(now)}-${call.taskStore.uniqueCode(5)}`;
  const times = { createdAt: now, updatedAt: now };
  return {
    id,
    group,
    type,
    name: checkedName(call, false),
    sourceUrl,
    moderation,
    script: call.script,
    base: call.base,
    ...times,
  };
}

function groupOf({ assets, body, account, project }: AssetCall, field: "Id" | "GroupId"): AssetGroup {
  required(body, field);
  const id = stringOf(body[field]);
  const group = assets.groups.get(id);
  if (group !== null && group.account === account && group.project === project) return group;
  throw new Refusal(404, `The asset group ${id} does not exist in the project ${project}.`, {
    code: "NotFound.group_id",
  });
}

function assetOf({ assets, body, account, project }: AssetCall): Asset {
  required(body, "Id");
  const id = stringOf(body["Id"]);
  const asset = assets.assets.get(id);
  if (asset !== null && asset.group.account === account && asset.group.project === project) return asset;
  throw new Refusal(404, `The asset ${id} does not exist in the project ${project}.`, { code: "NotFound.asset_id" });
}

function groupsOf({ assets, account, project }: AssetCall): readonly AssetGroup[] {
  return [...assets.groups.values()].filter((group) => group.account === account && group.project === project);
}

function assetsOf({ assets, account, project }: AssetCall): readonly Asset[] {
  return [...assets.assets.values()].filter(({ group }) => group.account === account && group.project === project);
}

function groupFacts(group: AssetGroup) {
  return { item: group, name: group.name, group: group.id, groupType: group.type, status: "" };
}

function assetFacts(asset: Asset) {
  const { group, name } = asset;
  return { item: asset, name, group: group.id, groupType: group.type, status: assetStatus(asset, Date.now()) };
}

function groupShown(group: AssetGroup): JsonObject {
  return {
    Id: group.id,
    Name: group.name,
    Title: group.name,
    Description: group.description,
    GroupType: group.type,
    ProjectName: group.project,
    CreateTime: timeOf(group.createdAt),
    UpdateTime: timeOf(group.updatedAt),
  };
}

function assetShown(asset: Asset): JsonObject {
  const { script } = asset;
  const status = assetStatus(asset, Date.now());
  const code = script.error_code ?? "InputImageSensitiveContentDetected";
  const why = { Code: code, Message: script.error_message ?? "The material was refused." };
  return {
    Id: asset.id,
    Name: asset.name,
    URL: linkOf(asset),
    AssetType: asset.type,
    GroupId: asset.group.id,
    Status: status,
    Moderation: { Strategy: asset.moderation },
    ...(status === "Failed" ? { Error: why } : {}),
    ProjectName: asset.group.project,
    CreateTime: timeOf(asset.createdAt),
    UpdateTime: timeOf(asset.updatedAt),
  };
}

const endings: Readonly<Record<string, string>> = { Image: "png", Video: "mp4", Audio: "wav" };

/** A link that is valid for twelve hours. */
function linkOf({ id, type, base, createdAt, script }: Asset): string {
  const expiresAt = createdAt + (script.url_ms ?? 12 * 3_600_000);
  return fileUrl(base, { name: `${id}.${endings[type] ?? "png"}`, seconds: 5, bytes: 0, expiresAt });
}

function checkedName({ body }: AssetCall, must: boolean): string {
  if (must) required(body, "Name");
  const name = stringOf(body["Name"]);
  if (name.length > 64) throw refused("InvalidParameter", "Name: it is longer than 64 characters.");
  return name;
}

function described({ body }: AssetCall): string {
  const description = stringOf(body["Description"]);
  if (description.length > 300) throw refused("InvalidParameter", "Description: it is longer than 300 characters.");
  return description;
}

function requireGroupType({ body }: AssetCall): void {
  required(objectOf(body["Filter"]), "GroupType");
}

function required(fields: JsonObject, ...names: readonly string[]): void {
  for (const name of names) {
    if (fields[name] == null || fields[name] === "") throw refused("MissingParameter", `${name} is required.`);
  }
}

function refused(code: string, message: string): Refusal {
  return new Refusal(400, message, { code });
}

function clockMark(now: number): string {
  return new Date(now).toISOString().replace(/\D/g, "").slice(0, 14);
}

function timeOf(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
