import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { openApiDocument } from "@sluice/contract";
import type { JsonSchema, Operation, PathItem, Reference } from "../../contract/src/openapi/types.ts";
import { notOffered } from "../src/api/endpoints/videos.ts";
import { routeOf, routes } from "../src/api/routes.ts";
import { bodyOf, brokenBodies, seededRandom } from "./described-bodies.ts";
import { brokenForms, type FormBody, formBodyOf, formOf } from "./described-forms.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "./started-gateway.ts";

const document = openApiDocument(null);

interface Described {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** Of the data plane: what stands outside it is told to scripts by the console's table of routes, which has tests of its own. */
const described: readonly Described[] = Object.entries<PathItem>(document.paths)
  .filter(([path]) => path === "/api/oauth/usage" || !(path.startsWith("/api") || path === "/openapi.json"))
  .flatMap(([path, item]) =>
    Object.entries<Operation>({ ...item }).map(([method, operation]) => ({
      path: path.replace(/\{\w+\}/g, "no-such-thing"),
      method: method.toUpperCase(),
      operation,
    })),
  );

test("the whole document is OpenAPI 3.1, every reference of it leads somewhere, and a broken one is found", async () => {
  // Its own copy: the validator writes into what it is given.
  const read = () => JSON.parse(JSON.stringify(document)) as { info: { title?: string } };
  const validator = new Validator();
  expect(await validator.validate(read())).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  expect(validator.resolveRefs()).toBeDefined();
  const broken = read();
  delete broken.info.title;
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

describe("the description and the table of routes", () => {
  test("whatever is described has a route", () => {
    const missing = described.filter(({ path, method }) => !hasEndpoint(path, method));
    expect(missing.map(({ path, method }) => `${method} ${path}`)).toEqual([]);
  });

  test("every route is described, but for those whose addresses the gateway gives out itself", () => {
    const known = new Set(described.map(({ path, method }) => `${routes.indexOf(at(path, method))} ${method}`));
    const silent = routes.flatMap((route, index) =>
      Object.entries(route.methods).flatMap(([method, endpoint]) => {
        const isDescribed = known.has(`${index} ${method}`) || (method === "HEAD" && known.has(`${index} GET`));
        return isDescribed || endpoint === notOffered ? [] : [`${method} ${route.name}`];
      }),
    );
    // Warm-ups of connections; where a vendor calls back; material behind a signature.
    expect(silent.sort()).toEqual(["GET blob", "HEAD agent-hello", "HEAD blob", "HEAD root", "POST video-callback"]);
  });
});

/** A GET may be the upgrade to a WebSocket. */
function hasEndpoint(path: string, method: string): boolean {
  const route = routeOf(path, method);
  return route?.methods[method] !== undefined || (method === "GET" && route?.socket !== undefined);
}

function at(path: string, method: string) {
  const route = routeOf(path, method);
  if (route === null) throw new Error(`${method} ${path} has no route`);
  return route;
}

describe("answers", () => {
  const contentOf = (path: string, method: "get" | "post" = "post") => {
    const response = document.paths[path]?.[method]?.responses["200"];
    return response !== undefined && "content" in response ? (response.content ?? {}) : {};
  };

  test("of speech are sounds or events, and no JSON", () => {
    expect(Object.keys(contentOf("/v1/audio/speech"))).toEqual(["audio/*", "text/event-stream"]);
  });

  test("that stream are lists of events with JSON in each", () => {
    const streams = described.flatMap(({ operation }) => {
      const response = operation.responses["200"];
      const content = response !== undefined && "content" in response ? response.content : undefined;
      return content?.["text/event-stream"] === undefined ? [] : [content["text/event-stream"].schema];
    });
    expect(streams.length).toBeGreaterThan(8);
    for (const schema of streams) {
      expect(schema).toMatchObject({
        type: "array",
        items: { properties: { data: { contentMediaType: "application/json", contentSchema: { type: "object" } } } },
      });
    }
  });

  test("of a provider's own API fail in the shape of any vendor", () => {
    const failed = document.paths["/v1/providers/{provider}/{path}"]?.post?.responses["404"];
    expect(failed).toEqual({ $ref: "#/components/responses/AnyError404" });
  });
});

/** Calls of models with a JSON body, which are read before it is known whether there is such a model. */
const calls = described.flatMap(({ path, method, operation }) => {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  if (schema === undefined || !operation.tags.includes("generation")) return [];
  return [{ path, method, schema: resolved(schema) }];
});

/** A described schema stands beside its operation, or among the named ones. */
function resolved(schema: JsonSchema | Reference): JsonSchema {
  if (typeof schema["$ref"] !== "string") return schema as JsonSchema;
  return document.components.schemas[schema["$ref"].split("/").at(-1) ?? ""] ?? {};
}

let gateway: StartedGateway;
/** A video that may be remixed, as far as its id goes. */
let film: string;
beforeAll(async () => {
  gateway = await startGateway({
    models: [
      {
        name: "film",
        type: "video",
        deployments: [{ provider: "volc", upstream_model: "doubao-seedance-2-0-260128" }],
        price: { output: 6 },
      },
    ],
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark" })],
  });
  const made = await gateway.post("/v1/videos", { model: "film", prompt: "A boat." });
  film = ((await made.json()) as { id: string }).id;
});
afterAll(() => gateway.stop());

function ask(path: string, body: object): Promise<Response> {
  return gateway.post(`${path}${path.includes(":stream") ? "?alt=sse" : ""}`, body, {
    headers: { "anthropic-version": "2023-06-01" },
  });
}

describe("bodies made from the description", () => {
  test("there are some for every model endpoint", () => {
    expect(calls.length).toBeGreaterThan(20);
  });

  test.each(calls)("$path: what it allows is read, and only its model is not found", async ({ path, schema }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const body = { ...bodyOf(schema, seededRandom(seed)), ...(hasModel(schema) ? { model: "no-such-thing" } : {}) };
      const response = await ask(path, body);
      expect(`${response.status} ${JSON.stringify(body)} ${await response.text()}`).toStartWith("404 ");
    }
  });

  test.each(calls)(
    "$path: each bound that it names is a 400 when it is broken, and says which",
    async ({ path, schema }) => {
      const good = { ...bodyOf(schema, seededRandom(1)), ...(hasModel(schema) ? { model: "no-such-thing" } : {}) };
      const broken = brokenBodies(schema, good);
      expect(broken.length).toBeGreaterThan(0);
      for (const { what, name, body } of broken) {
        const response = await ask(path, body);
        const text = await response.text();
        expect(`${name} ${what}: ${response.status} ${text}`).toStartWith(`${name} ${what}: 400`);
        expect(text).toContain(name);
      }
    },
  );
});

/** What the gateway makes itself: no upstream is asked for what is refused, and groups that are not there make no asset. */
const makings = described.flatMap(({ path, method, operation }) => {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const isOurs = operation.tags.includes("video") || operation.tags.includes("assets");
  return schema === undefined || !isOurs || method !== "POST" ? [] : [{ path, schema: resolved(schema) }];
});

describe("bodies made from the description of videos and assets", () => {
  test("all of them are there", () => {
    expect(makings.map(({ path }) => path).sort()).toEqual([
      "/v1/asset-groups",
      "/v1/assets",
      "/v1/video/tasks",
      "/v1/videos",
      "/v1/videos/no-such-thing/remix",
    ]);
  });

  test.each(makings)("$path: what it allows is not refused for its form", async ({ path, schema }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const made = bodyOf(schema, seededRandom(seed));
      const body = {
        ...made,
        ...("platform" in made ? { platform: "local" } : {}),
        ...(hasModel(schema) ? { model: "no-such-thing" } : {}),
      };
      const response = await ask(path, body);
      const text = await response.text();
      expect(`${response.status} ${JSON.stringify(body)} ${text}`).toMatch(/^(?:200|404) /);
    }
  });

  test.each(makings)(
    "$path: each bound that it names is a 400 when it is broken, and says which",
    async ({ path, schema }) => {
      const made = bodyOf(schema, seededRandom(1));
      const good = path.includes("video") ? { prompt: "A boat." } : { ...made, platform: "local" };
      if (hasModel(schema)) Object.assign(good, { model: "film" });
      const broken = brokenBodies(schema, good);
      expect(broken.length).toBeGreaterThan(4);
      for (const { what, name, body } of broken) {
        const response = await ask(path.replace("no-such-thing", film), body);
        const text = await response.text();
        expect(`${name} ${what}: ${response.status} ${text}`).toStartWith(`${name} ${what}: 400`);
        expect(text).toContain(`"param":"${name}"`);
      }
    },
  );
});

/** Forms: fields as text, files as such. */
const forms = described.flatMap(({ path, operation }) => {
  const schema = operation.requestBody?.content["multipart/form-data"]?.schema;
  return schema === undefined ? [] : [{ path, schema: resolved(schema) }];
});

function send(path: string, body: FormBody): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${aliceKey}` },
    body: formOf(body),
  });
}

describe("forms made from the description", () => {
  test("all of them are there", () => {
    expect(forms.map(({ path }) => path).sort()).toEqual([
      "/v1/assets",
      "/v1/audio/transcriptions",
      "/v1/audio/translations",
      "/v1/images/edits",
      "/v1/videos",
    ]);
  });

  test.each(forms)("$path: what it allows is read, and only what it names is not found", async ({ path, schema }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const body = {
        ...formBodyOf(schema, seededRandom(seed)),
        ...(hasModel(schema) ? { model: "no-such-thing" } : { asset_type: "Image" }),
      };
      const response = await send(path, body);
      expect(`${response.status} ${await response.text()}`).toStartWith("404 ");
    }
  });

  test.each(forms)(
    "$path: each bound that it names is a 400 when it is broken, and says which",
    async ({ path, schema }) => {
      const good = formBodyOf(schema, () => 0.99);
      if (hasModel(schema)) Object.assign(good, { model: path.includes("video") ? "film" : "no-such-thing" });
      if (path.includes("video")) Object.assign(good, { prompt: "A boat." });
      const broken = brokenForms(schema, good);
      expect(broken.length).toBeGreaterThan(3);
      for (const { what, name, body } of broken) {
        const response = await send(path, body);
        const text = await response.text();
        expect(`${name} ${what}: ${response.status} ${text}`).toStartWith(`${name} ${what}: 400`);
        expect(text).toContain(`"param":"${name}"`);
      }
    },
  );
});

function hasModel(schema: JsonSchema): boolean {
  return "model" in (schema["properties"] as object);
}
