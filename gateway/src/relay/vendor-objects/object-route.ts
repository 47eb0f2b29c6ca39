import {
  type CallSignal,
  Failure,
  type HeaderReader,
  type Model,
  type Principal,
  type Provider,
  storedFileId,
  type UpstreamObject,
} from "#core/index.ts";
import { allowsObject, fileApiOf } from "#providers/index.ts";
import type { RelayDependencies } from "../call.ts";
import { type PassThroughRoute, passThroughRoute } from "../pass-through/pass-through-call.ts";
import { type ObjectEndpoint, objectCollections } from "./object-endpoints.ts";

/** A request for an object that a vendor stores. */
export interface ObjectRequest {
  readonly endpoint: ObjectEndpoint;
  readonly method: string;
  readonly principal: Principal;
  /** As the caller wrote it, from `/v1` on. */
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderReader;
  /** The caller's dialect is this vendor's. */
  readonly vendor: string;
  readonly mayCall: (model: string) => boolean;
  readonly signal: CallSignal;
}

/** Names the account of a new object. */
const providerHeader = "x-sluice-provider";

/**
 * The account of the object that the path names; for a new object the one that `x-sluice-provider` names, else the first account of the
 * caller's models that stores such objects. Throws Failure not_found or no_deployment_available.
 */
export async function objectRoute(dependencies: RelayDependencies, request: ObjectRequest): Promise<PassThroughRoute> {
  const { endpoint, path, query } = request;
  const id = idIn(endpoint, path);
  const accounts = accountsFor(dependencies, request);
  let provider: Provider;
  let object: UpstreamObject | null = null;
  const isPublic = id !== null && isVendorsOwn(request, id);
  if (id === null || isPublic) provider = accountOfNew(accounts, request);
  else ({ provider, object } = await accountOf(dependencies, accounts, request, id));
  const { sentPath, fileNames } = await replaceFileInPath(dependencies, request, provider);
  const route = passThroughRoute(dependencies, provider.id, sentPath, query);
  return { ...route, isShared: true, owned: { endpoint, object, fileNames, isPublic } };
}

/** A skill of Anthropic's own, such as `pptx`, which every account has and can only read. The ids of all others begin with `skill_`. */
function isVendorsOwn({ endpoint, method, vendor }: ObjectRequest, id: string): boolean {
  const isSkill = endpoint.collection === "skills" && vendor === "anthropic";
  return isSkill && method === "GET" && /^[a-z][a-z0-9-]{0,63}$/.test(id);
}

/** Vector stores name their files by the ids of the account's copies. Throws Failure. */
async function replaceFileInPath(
  dependencies: RelayDependencies,
  { path, principal, signal }: ObjectRequest,
  provider: Provider,
): Promise<{ readonly sentPath: string; readonly fileNames: ReadonlyMap<string, string> }> {
  const [, before = "", name = "", after = ""] = filePath.exec(path) ?? [];
  const id = storedFileId(name);
  const api = fileApiOf(provider.kind);
  const none = { sentPath: path, fileNames: new Map<string, string>() };
  if (id === null || api === null) return none;
  const files = dependencies.files();
  const [file] = await files.find(principal.workspace.id, [id]);
  if (file === undefined || file.status !== "ready") return none;
  const { uri } = await files.copies.at(file, provider, api, signal);
  return { sentPath: `${before}${encodeURIComponent(uri)}${after}`, fileNames: new Map([[name, uri]]) };
}

const filePath = /^(\/v1\/vector_stores\/[^/]+\/files\/)([^/]+)(.*)$/;

/** The id of the object in a path; null: the path is its collection. Throws Failure not_found. */
function idIn({ collection, path: pattern }: ObjectEndpoint, path: string): string | null {
  if (!pattern.includes("{")) return null;
  const [part = ""] = path.slice(`/v1/${collection}/`.length).split("/");
  if (!/^[\w.:-]{1,200}$/.test(part)) throw missing(collection, part);
  return part;
}

/** Accounts of the caller's models that store objects of this collection, in the order of the configuration. */
export function accountsFor(
  { configSnapshot }: Pick<RelayDependencies, "configSnapshot">,
  { endpoint, mayCall, vendor }: Pick<ObjectRequest, "endpoint" | "mayCall" | "vendor">,
): ReadonlyMap<string, Provider> {
  const vendors: readonly string[] = objectCollections[endpoint.collection].vendors;
  const found = new Map<string, Provider>();
  const add = ({ deployments }: Model): void => {
    for (const { provider } of deployments) {
      if (provider.kind === vendor && vendors.includes(vendor) && !found.has(provider.id)) {
        found.set(provider.id, provider);
      }
    }
  };
  for (const model of configSnapshot().models.values()) if (mayCall(model.name)) add(model);
  return found;
}

function accountOfNew(accounts: ReadonlyMap<string, Provider>, { endpoint, headers }: ObjectRequest): Provider {
  const named = headers.get(providerHeader);
  const what = endpoint.collection.replace("_", " ");
  if (named !== null && named !== "") {
    const provider = accounts.get(named);
    if (provider !== undefined) return provider;
    const shown = named.slice(0, 64).replaceAll(/[^\x21-\x7e]/g, "?");
    throw new Failure("not_found", `There is no provider "${shown}" that stores ${what} for this key.`, {
      param: providerHeader,
    });
  }
  const all = [...accounts.values()];
  const first = all.find(({ enabled }) => enabled) ?? all[0];
  if (first !== undefined) return first;
  throw new Failure("not_found", `No provider of this key's models stores ${what}.`);
}

/** The same answer for an object of another workspace, of an account that the key may not use, and for none. */
async function accountOf(
  { upstreamObjects }: RelayDependencies,
  accounts: ReadonlyMap<string, Provider>,
  { endpoint: { collection }, principal, signal }: ObjectRequest,
  id: string,
): Promise<{ readonly provider: Provider; readonly object: UpstreamObject | null }> {
  const found = await upstreamObjects.find(principal.workspace.id, [id], { waits: true, signal });
  const object = found.get(id) ?? null;
  if (object !== null && object.kind === objectCollections[collection].kind) {
    const provider = accounts.get(object.provider);
    if (provider !== undefined) return { provider, object };
  }
  const listed = [...accounts.values()].find((provider) => allowsObject(provider, id));
  if (listed !== undefined) return { provider: listed, object: null };
  throw missing(collection, id);
}

function missing(collection: string, id: string): Failure {
  const what = collection.replace("_", " ").replace(/s$/, "");
  return new Failure("not_found", `There is no ${what} with the id "${id.slice(0, 128)}".`, {
    param: "id",
  });
}
