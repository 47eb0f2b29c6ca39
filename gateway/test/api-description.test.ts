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

/**
 * The data plane's description. The control plane is described by the console's route table, which has separate tests.
 */
const described: readonly Described[] = Object.entries<PathItem>(document.paths)
  .filter(([path]) => path === "/api/oauth/usage" || !(path.startsWith("/api") || path === "/openapi.json"))
  .flatMap(([path, item]) =>
    Object.entries<Operation>({ ...item }).map(([method, operation]) => ({
      path: path.replace(/\{\w+\}/g, "no-such-thing"),
      method: method.toUpperCase(),
      operation,
    })),
  );

test("the document is valid OpenAPI 3.1, all references resolve, and a broken one is found", async () => {
  // A copy, because the validator modifies its input.
  const read = () => JSON.parse(JSON.stringify(document)) as { info: { title?: string } };
  const validator = new Validator();
  expect(await validator.validate(read())).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  expect(validator.resolveRefs()).toBeDefined();
  const broken = read();
  delete broken.info.title;
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

describe("the description and the route table", () => {
  test("every described operation has a route", () => {
    const missing = described.filter(({ path, method }) => !hasEndpoint(path, method));
    expect(missing.map(({ path, method }) => `${method} ${path}`)).toEqual([]);
  });

  test("every route is described, except those with URLs that the gateway itself creates", () => {
    const describedRoutes = new Set(
      described.map(({ path, method }) => `${routes.indexOf(at(path, method))} ${method}`),
    );
    const silent = routes.flatMap((route, index) =>
      Object.entries(route.methods).flatMap(([method, endpoint]) => {
        const isDescribed =
          describedRoutes.has(`${index} ${method}`) || (method === "HEAD" && describedRoutes.has(`${index} GET`));
        return isDescribed || endpoint === notOffered ? [] : [`${method} ${route.name}`];
      }),
    );
    // Connection warm-ups, vendors' callbacks, and signed material URLs.
    expect(silent.sort()).toEqual(
      ["GET blob", "HEAD agent-hello", "HEAD blob", "HEAD root", "POST batch-callback", "POST video-callback"].sort(),
    );
  });
});

/** A GET may be a WebSocket upgrade. */
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

  test("of speech are audio or events, and no JSON", () => {
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

  test("of a provider's own API fail in the format of any vendor", () => {
    const failed = document.paths["/v1/providers/{provider}/{path}"]?.post?.responses["404"];
    expect(failed).toEqual({ $ref: "#/components/responses/AnyError404" });
  });
});

/** Model calls with a JSON body, which is read before the model is looked up. */
const calls = described.flatMap(({ path, method, operation }) => {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  // Bedrock's token count has its request in base64.
  if (schema === undefined || !operation.tags.includes("generation") || path.endsWith("/count-tokens")) return [];
  return [{ path, method, schema: resolved(schema) }];
});

/** A schema is either inline or among the named ones. */
function resolved(schema: JsonSchema | Reference): JsonSchema {
  if (typeof schema["$ref"] !== "string") return schema as JsonSchema;
  return document.components.schemas[schema["$ref"].split("/").at(-1) ?? ""] ?? {};
}

let gateway: StartedGateway;
/** A video with an id that may be remixed. */
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

/** An agent is named instead of a model. */
function withModel(schema: JsonSchema, { agent: _, ...body }: ReturnType<typeof bodyOf>) {
  return hasModel(schema) ? { ...body, model: "no-such-thing" } : body;
}

describe("bodies generated from the description", () => {
  test("exist for every model endpoint", () => {
    expect(calls.length).toBeGreaterThan(20);
  });

  test.each(calls)("$path: a valid body is accepted, and only its model is not found", async ({ path, schema }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const body = withModel(schema, bodyOf(schema, seededRandom(seed)));
      const response = await ask(path, body);
      expect(`${response.status} ${JSON.stringify(body)} ${await response.text()}`).toStartWith("404 ");
    }
  });

  test.each(calls)("$path: a violation of each described bound is a 400 that names it", async ({ path, schema }) => {
    const good = withModel(schema, bodyOf(schema, seededRandom(1)));
    const broken = brokenBodies(schema, good);
    expect(broken.length).toBeGreaterThan(0);
    for (const { what, name, body } of broken) {
      const response = await ask(path, body);
      const text = await response.text();
      expect(`${name} ${what}: ${response.status} ${text}`).toStartWith(`${name} ${what}: 400`);
      expect(text).toContain(name);
    }
  });
});

/** Operations of the gateway itself: refused requests reach no upstream, and unknown groups create no asset. */
const makings = described.flatMap(({ path, method, operation }) => {
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const isOurs = operation.tags.includes("video") || operation.tags.includes("assets");
  return schema === undefined || !isOurs || method !== "POST" ? [] : [{ path, schema: resolved(schema) }];
});

describe("video and asset bodies generated from the description", () => {
  test("exist for every operation", () => {
    expect(makings.map(({ path }) => path).sort()).toEqual([
      "/v1/asset-groups",
      "/v1/assets",
      "/v1/video/tasks",
      "/v1/videos",
      "/v1/videos/no-such-thing/remix",
    ]);
  });

  test.each(makings)("$path: a valid body is not rejected as malformed", async ({ path, schema }) => {
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

  test.each(makings)("$path: a violation of each described bound is a 400 that names it", async ({ path, schema }) => {
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
  });
});

/** Forms: fields as text, files as files. */
const forms = described.flatMap(({ path, operation }) => {
  const schema = operation.requestBody?.content["multipart/form-data"]?.schema;
  // Files have their own tests, because no bound of their forms is in a table.
  const isFile = operation.tags.includes("files");
  return schema === undefined || isFile ? [] : [{ path, schema: resolved(schema) }];
});

function send(path: string, body: FormBody): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${aliceKey}` },
    body: formOf(body),
  });
}

describe("forms generated from the description", () => {
  test("exist for every form endpoint", () => {
    expect(forms.map(({ path }) => path).sort()).toEqual([
      "/v1/assets",
      "/v1/audio/transcriptions",
      "/v1/audio/translations",
      "/v1/images/edits",
      "/v1/videos",
    ]);
  });

  test.each(forms)(
    "$path: a valid form is accepted, and only the objects it names are not found",
    async ({ path, schema }) => {
      for (let seed = 1; seed <= 12; seed++) {
        const body = {
          ...formBodyOf(schema, seededRandom(seed)),
          ...(hasModel(schema) ? { model: "no-such-thing" } : { asset_type: "Image" }),
        };
        const response = await send(path, body);
        expect(`${response.status} ${await response.text()}`).toStartWith("404 ");
      }
    },
  );

  test.each(forms)("$path: a violation of each described bound is a 400 that names it", async ({ path, schema }) => {
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
  });
});

function hasModel(schema: JsonSchema): boolean {
  return "model" in (schema["properties"] as object);
}
