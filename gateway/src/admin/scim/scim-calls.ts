import { addressKey, bounds, Failure, WindowCounts } from "#core/index.ts";
import type { ScimGroup, ScimPage, ScimStore, ScimUser } from "#directory/index.ts";
import { hasScimTokenFormat } from "#identity/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { storedTokenNames } from "../handlers/callers.ts";
import { readText } from "../handlers/calls.ts";
import { consoleOrigin } from "../handlers/origins.ts";
import { groupChangeOf, patchedUser, readOperations } from "./scim-patch.ts";
import { invalid, problemAnswer, ScimProblem, scimContentType } from "./scim-problem.ts";
import { isShown, projected, readListQuery, readProjection, refuseManyNames } from "./scim-query.ts";
import * as resources from "./scim-resources.ts";
import { type JsonObject, providerConfig, resourceTypes, schemas, scimPath } from "./scim-schema.ts";

type ScimDependencies = Pick<ConsoleDependencies, "scim" | "vault" | "clock" | "publicUrl" | "changesSeen">;

interface ScimCall {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly base: string;
  readonly auditSource: AuditSource;
}

/** SCIM for directories (RFC 7644). Never throws: errors have SCIM's format. */
export class ScimCalls {
  readonly #dependencies: ScimDependencies;
  readonly #calls: WindowCounts;
  readonly #refused: WindowCounts;

  constructor(dependencies: ScimDependencies) {
    this.#dependencies = dependencies;
    const windows = { windowMs: bounds.scimCallsMs, keysMax: bounds.scimCallersMax, clock: dependencies.clock };
    this.#calls = new WindowCounts({ ...windows, max: bounds.scimCallsMax });
    this.#refused = new WindowCounts({ ...windows, max: bounds.scimRefusedCallsMax });
  }

  async answer(request: Request, ip: string): Promise<Response> {
    try {
      const auditSource = await this.#caller(request, ip);
      const { pathname, searchParams: query } = new URL(request.url);
      const base = `${consoleOrigin(this.#dependencies, request)}${scimPath}`;
      const call: ScimCall = { request, query, base, auditSource };
      const [kind = "", id = null, ...more] = pathname
        .slice(scimPath.length + 1)
        .replace(/\/$/, "")
        .split("/");
      if (more.length > 0) throw notFound();
      return await this.#resource(call, kind, id);
    } catch (thrown) {
      return problemAnswer(thrown);
    }
  }

  async #caller(request: Request, ip: string): Promise<AuditSource> {
    const secret = /^Bearer +(\S{1,256})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const isValid = secret !== undefined && hasScimTokenFormat(secret);
    const caller = isValid ? await this.#callerOf(secret, ip) : null;
    if (caller === null) throw new ScimProblem(401, null, "Invalid SCIM token. Create one in the console.");
    tooMany(this.#calls.take(caller.tokenId));
    return { actor: caller.name, ip };
  }

  /** A token with a valid checksum costs two database reads, so attempts per address are limited. */
  async #callerOf(secret: string, ip: string) {
    const address = addressKey(ip);
    tooMany(this.#refused.take(address));
    const { scim, vault } = this.#dependencies;
    for (const name of storedTokenNames(secret)) {
      const caller = await scim.caller(vault.digest(name));
      if (caller === null) continue;
      this.#refused.giveBack(address);
      return caller;
    }
    return null;
  }

  async #resource(call: ScimCall, kind: string, id: string | null): Promise<Response> {
    const { scim } = this.#dependencies;
    const { method } = call.request;
    if (kind === "Users") return await this.#answered(call, usersOf(scim, call.base), id);
    if (kind === "Groups") {
      const withMembers = () => isShown(readProjection(call.query), "members");
      return await this.#answered(call, groupsOf(scim, call.base, withMembers), id);
    }
    const described = descriptionOf(call.base, kind, id === null ? null : decoded(id));
    if (described === null) throw notFound();
    if (method !== "GET") throw methodNotAllowed(method);
    return answerOf(200, described);
  }

  async #answered(call: ScimCall, kind: ScimKind, id: string | null): Promise<Response> {
    const { request, auditSource } = call;
    const { method } = request;
    if (id === null) {
      if (method === "GET") return await listResources(call, kind);
      if (method !== "POST") throw methodNotAllowed(method);
      return await this.#written(call, 201, await kind.create(await bodyOf(request), auditSource));
    }
    const check = (before: Versioned) => checkVersion(request, before);
    if (method === "GET") return await showResource(call, kind, id);
    if (method === "DELETE") {
      await kind.remove(id, check, auditSource);
      await this.#dependencies.changesSeen();
      return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
    }
    if (method !== "PUT" && method !== "PATCH") throw methodNotAllowed(method);
    const changed = await kind.change(id, method === "PUT", await bodyOf(request), check, auditSource);
    return await this.#written(call, method === "PUT" ? 200 : kind.patched, changed);
  }

  async #written(call: ScimCall, status: number, resource: resources.ScimResource): Promise<Response> {
    await this.#dependencies.changesSeen();
    const { location, version: etag } = resource.meta;
    if (status !== 204) return answerOf(status, projected(resource, readProjection(call.query)), { location, etag });
    return new Response(null, { status, headers: { location, etag, "cache-control": "no-store" } });
  }
}

interface Versioned {
  readonly version: number;
}

/** `patched`: the status that answers a PATCH. */
type ScimKind = ReturnType<typeof usersOf>;

function usersOf(scim: ScimStore, base: string) {
  return {
    patched: 200,
    async list(page: ScimPage) {
      const { total, items } = await scim.users(page);
      return { total, items: items.map((user) => resources.shownUser(user, base)) };
    },
    async find(id: string) {
      const user = await scim.user(id);
      return user === null ? null : resources.shownUser(user, base);
    },
    create: async (body: unknown, auditSource: AuditSource) =>
      resources.shownUser(
        await scim.createUser(resources.userFormOf(resources.readUserResource(body), null), auditSource),
        base,
      ),
    async change(
      id: string,
      isWhole: boolean,
      body: unknown,
      check: (before: Versioned) => void,
      auditSource: AuditSource,
    ) {
      const whole = isWhole ? resources.readUserResource(body) : null;
      const operations = whole === null ? readOperations(body) : [];
      const changed = (before: ScimUser) => {
        check(before);
        return resources.userFormOf(whole ?? patchedUser(resources.resourceOf(before), operations), before);
      };
      return resources.shownUser(await scim.changeUser(id, changed, auditSource), base);
    },
    remove: (id: string, check: (before: Versioned) => void, auditSource: AuditSource) =>
      scim.removeUser(id, check, auditSource),
  };
}

function groupsOf(scim: ScimStore, base: string, withMembers: () => boolean): ScimKind {
  return {
    // A group may be large, and a client that adds a member does not need the others.
    patched: 204,
    async list(page) {
      const { total, items } = await scim.groups(page, withMembers());
      return { total, items: items.map((group) => resources.shownGroup(group, base)) };
    },
    async find(id) {
      const group = await scim.group(id, withMembers());
      return group === null ? null : resources.shownGroup(group, base);
    },
    create: async (body, auditSource) =>
      resources.shownGroup(await scim.createGroup(resources.readGroup(body), auditSource), base),
    async change(id, isWhole, body, check, auditSource) {
      const change = isWhole ? resources.readGroup(body) : groupChangeOf(readOperations(body));
      const changed = (before: ScimGroup) => {
        check(before);
        return change;
      };
      const group = await scim.changeGroup(id, changed, auditSource);
      return resources.shownGroup((isWhole ? await scim.group(id, true) : null) ?? group, base);
    },
    remove: (id, check, auditSource) => scim.removeGroup(id, check, auditSource),
  };
}

async function listResources({ query }: ScimCall, kind: ScimKind): Promise<Response> {
  const page = readListQuery(query);
  const projection = readProjection(query);
  const { total, items } = await kind.list(page);
  const resources = items.map((item) => projected(item, projection));
  return answerOf(200, listOf(total, page.startIndex, resources));
}

async function showResource({ request, query }: ScimCall, kind: ScimKind, id: string): Promise<Response> {
  const resource = await kind.find(id);
  if (resource === null) throw new ScimProblem(404, null, "Resource not found.");
  const etag = resource.meta.version;
  const held = request.headers.get("if-none-match");
  if (held !== null && includesVersion(held, etag)) return new Response(null, { status: 304, headers: { etag } });
  return answerOf(200, projected(resource, readProjection(query)), { etag });
}

function descriptionOf(base: string, kind: string, id: string | null): JsonObject | null {
  if (kind === "ServiceProviderConfig") return id === null ? providerConfig(base) : null;
  const all = kind === "ResourceTypes" ? resourceTypes(base) : kind === "Schemas" ? schemas(base) : null;
  if (all === null) return null;
  return id === null ? listOf(all.length, 1, all) : (all.find((each) => each["id"] === id) ?? null);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound();
  }
}

async function bodyOf(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "application/scim+json";
  if (!/^application\/(scim\+)?json\s*(;|$)/i.test(type)) {
    throw new Failure("unsupported_media_type", "The body must be application/scim+json.");
  }
  const text = await readText(request, bounds.scimBodyBytesMax);
  refuseManyNames(text);
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("invalidSyntax", "The body is not valid JSON.");
  }
}

/** RFC 7644, 3.14. */
function checkVersion(request: Request, item: Versioned): void {
  const wanted = request.headers.get("if-match");
  if (wanted === null || includesVersion(wanted, resources.versionOf(item))) return;
  throw new ScimProblem(412, null, "The resource was changed meanwhile. Get it again.");
}

function includesVersion(header: string, etag: string): boolean {
  const names = header.split(",", 20).map((each) => each.trim().replace(/^W\//, ""));
  return names.includes("*") || names.includes(etag.replace(/^W\//, ""));
}

function listOf(total: number, startIndex: number, resources: readonly JsonObject[]): JsonObject {
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function answerOf(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": scimContentType, "cache-control": "no-store", ...headers },
  });
}

function tooMany(waitMs: number): void {
  if (waitMs === 0) return;
  throw new Failure("rate_limit_exceeded", "Too many calls. Wait for the time in retry-after.", {
    retryAfterMs: waitMs,
  });
}

function notFound(): ScimProblem {
  return new ScimProblem(404, null, "Nothing exists at this path.");
}

function methodNotAllowed(method: string): ScimProblem {
  return new ScimProblem(405, null, `Method ${method} is not allowed here.`);
}
