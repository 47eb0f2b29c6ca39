import { addressKey, bounds, Failure, WindowCounts } from "#core/index.ts";
import { looksLikeScimToken } from "#identity/index.ts";
import type { AuditSource } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { namesOfToken } from "../handlers/callers.ts";
import { consoleOrigin } from "../handlers/origins.ts";
import { readText } from "../json-body.ts";
import { providerConfig, resourceTypes, schemas, scimPath } from "./scim-descriptions.ts";
import { groupChangeOf, readGroup, shownGroup } from "./scim-group.ts";
import { readOperations } from "./scim-operations.ts";
import { invalid, problemAnswer, ScimProblem, scimContentType } from "./scim-problem.ts";
import { isShown, projected, readListQuery, readProjection, refuseManyNames } from "./scim-query.ts";
import { readUserResource, resourceOf, shownUser, userFormOf, versionOf } from "./scim-user.ts";
import { patchUser } from "./scim-user-patch.ts";
import type { JsonObject } from "./scim-values.ts";

type ScimDependencies = Pick<ConsoleDependencies, "scim" | "vault" | "clock" | "publicUrl" | "changesSeen">;

/** One call, its caller known. */
interface ScimCall {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly base: string;
  readonly auditSource: AuditSource;
}

type Answered = Promise<Response> | Response;

/** Users and groups as a directory sends them (RFC 7644). Never throws: what is wrong is told in SCIM's shape. */
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
      if (more.length > 0) throw nothingHere();
      return await this.#resource(call, kind, id);
    } catch (thrown) {
      return problemAnswer(thrown);
    }
  }

  async #caller(request: Request, ip: string): Promise<AuditSource> {
    const secret = /^Bearer +(\S{1,256})$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const known = secret !== undefined && looksLikeScimToken(secret) ? secret : null;
    const caller = known === null ? null : await this.#known(known, ip);
    if (caller === null)
      throw new ScimProblem(401, null, "This is not a SCIM token that holds. Make one in the console.");
    tooMany(this.#calls.take(caller.tokenId));
    return { actor: caller.name, ip };
  }

  /** A token that was made up well costs two reads, so an address has only so many of these. */
  async #known(secret: string, ip: string) {
    const address = addressKey(ip);
    tooMany(this.#refused.take(address));
    const { scim, vault } = this.#dependencies;
    for (const known of namesOfToken(secret)) {
      const caller = await scim.caller(vault.digest(known));
      if (caller === null) continue;
      this.#refused.giveBack(address);
      return caller;
    }
    return null;
  }

  async #resource(call: ScimCall, kind: string, id: string | null): Promise<Response> {
    const { method } = call.request;
    if (kind === "Users") return await (id === null ? this.#users(call, method) : this.#user(call, method, id));
    if (kind === "Groups") return await (id === null ? this.#groups(call, method) : this.#group(call, method, id));
    const described = descriptionOf(call.base, kind, id === null ? null : decoded(id));
    if (described === null) throw nothingHere();
    if (method !== "GET") throw notHere(method);
    return answerOf(200, described);
  }

  #users(call: ScimCall, method: string): Answered {
    const { scim } = this.#dependencies;
    if (method === "GET") {
      const query = readListQuery(call.query);
      const projection = readProjection(call.query);
      return scim.users(query).then(({ total, items }) =>
        listAnswer(
          total,
          query.startIndex,
          items.map((user) => projected(shownUser(user, call.base), projection)),
        ),
      );
    }
    if (method !== "POST") throw notHere(method);
    return this.#written(call, async () => {
      const form = userFormOf(readUserResource(await bodyOf(call.request)), null);
      return { status: 201, resource: shownUser(await scim.createUser(form, call.auditSource), call.base) };
    });
  }

  #user(call: ScimCall, method: string, id: string): Answered {
    const { scim } = this.#dependencies;
    const { request, base, auditSource } = call;
    if (method === "GET") {
      return scim.user(id).then((user) => {
        if (user === null) throw noResource();
        return foundAnswer(call, user, shownUser(user, base));
      });
    }
    if (method === "DELETE") {
      return this.#removed(scim.removeUser(id, (before) => checkVersion(request, before), auditSource));
    }
    if (method !== "PUT" && method !== "PATCH") throw notHere(method);
    return this.#written(call, async () => {
      const body = await bodyOf(request);
      const whole = method === "PUT" ? readUserResource(body) : null;
      const operations = whole === null ? readOperations(body) : [];
      const user = await scim.changeUser(
        id,
        (before) => {
          checkVersion(request, before);
          if (whole !== null) return userFormOf(whole, before);
          const resource = resourceOf(before);
          patchUser(resource, operations);
          return userFormOf(resource, before);
        },
        auditSource,
      );
      return { status: 200, resource: shownUser(user, base) };
    });
  }

  #groups(call: ScimCall, method: string): Answered {
    const { scim } = this.#dependencies;
    if (method === "GET") {
      const query = readListQuery(call.query);
      const projection = readProjection(call.query);
      return scim.groups(query, isShown(projection, "members")).then(({ total, items }) =>
        listAnswer(
          total,
          query.startIndex,
          items.map((group) => projected(shownGroup(group, call.base), projection)),
        ),
      );
    }
    if (method !== "POST") throw notHere(method);
    return this.#written(call, async () => {
      const group = await scim.createGroup(readGroup(await bodyOf(call.request)), call.auditSource);
      return { status: 201, resource: shownGroup(group, call.base) };
    });
  }

  #group(call: ScimCall, method: string, id: string): Answered {
    const { scim } = this.#dependencies;
    const { request, base, auditSource } = call;
    if (method === "GET") {
      return scim.group(id, isShown(readProjection(call.query), "members")).then((group) => {
        if (group === null) throw noResource();
        return foundAnswer(call, group, shownGroup(group, base));
      });
    }
    if (method === "DELETE") {
      return this.#removed(scim.removeGroup(id, (before) => checkVersion(request, before), auditSource));
    }
    if (method !== "PUT" && method !== "PATCH") throw notHere(method);
    return this.#written(call, async () => {
      const body = await bodyOf(request);
      const change = method === "PUT" ? readGroup(body) : groupChangeOf(readOperations(body));
      const group = await scim.changeGroup(
        id,
        (before) => {
          checkVersion(request, before);
          return change;
        },
        auditSource,
      );
      // A group may be large, and nobody who adds a member asks for all of them.
      if (method === "PATCH") return { status: 204, resource: shownGroup(group, base) };
      return { status: 200, resource: shownGroup((await scim.group(id, true)) ?? group, base) };
    });
  }

  async #written(
    call: ScimCall,
    write: () => Promise<{ readonly status: number; readonly resource: JsonObject }>,
  ): Promise<Response> {
    const { status, resource } = await write();
    await this.#dependencies.changesSeen();
    const meta = resource["meta"] as { readonly location: string; readonly version: string };
    const headers = { location: meta.location, etag: meta.version };
    if (status === 204) return new Response(null, { status, headers: { ...headers, "cache-control": "no-store" } });
    return answerOf(status, projected(resource, readProjection(call.query)), headers);
  }

  async #removed(removal: Promise<void>): Promise<Response> {
    await removal;
    await this.#dependencies.changesSeen();
    return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
  }
}

/** null: there is none. */
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
    throw nothingHere();
  }
}

async function bodyOf(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "application/scim+json";
  if (!/^application\/(scim\+)?json\s*(;|$)/i.test(type)) {
    throw new Failure("unsupported_media_type", "The body is application/scim+json.");
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
function checkVersion(request: Request, item: { readonly version: number }): void {
  const wanted = request.headers.get("if-match");
  if (wanted === null || namesVersion(wanted, item)) return;
  throw new ScimProblem(412, null, "It was changed meanwhile.");
}

function namesVersion(header: string, item: { readonly version: number }): boolean {
  const names = header.split(",", 20).map((each) => each.trim().replace(/^W\//, ""));
  return names.includes("*") || names.includes(versionOf(item).replace(/^W\//, ""));
}

function foundAnswer({ request, query }: ScimCall, item: { readonly version: number }, resource: JsonObject): Response {
  const etag = versionOf(item);
  const held = request.headers.get("if-none-match");
  if (held !== null && namesVersion(held, item)) return new Response(null, { status: 304, headers: { etag } });
  return answerOf(200, projected(resource, readProjection(query)), { etag });
}

function listAnswer(total: number, startIndex: number, resources: readonly JsonObject[]): Response {
  return answerOf(200, listOf(total, startIndex, resources));
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
  throw new Failure("rate_limit_exceeded", "Too many calls. Wait as long as retry-after says.", {
    retryAfterMs: waitMs,
  });
}

function nothingHere(): ScimProblem {
  return new ScimProblem(404, null, "There is nothing at this path.");
}

function noResource(): ScimProblem {
  return new ScimProblem(404, null, "There is no such resource.");
}

function notHere(method: string): ScimProblem {
  return new ScimProblem(405, null, `${method} is not possible here.`);
}
