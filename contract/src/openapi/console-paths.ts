import { z } from "zod";
import type { Need } from "../console/roles.ts";
import type { Route } from "../console/route.ts";
import { consoleRoutes } from "../console/routes.ts";
import { errorReferences } from "./error-responses.ts";
import type { JsonSchema, Operation, Parameter, PathItem, Tag } from "./types.ts";

/** The admin API, from the route table that the gateway serves. */
export function consolePaths(): Record<string, PathItem> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [id, spec] of Object.entries<Route>(consoleRoutes)) {
    const item = paths[spec.path] ?? {};
    item[spec.method.toLowerCase()] = operationOf(id, spec);
    paths[spec.path] = item;
  }
  return paths;
}

/** A section per resource of the admin API. */
export function consoleTags(): Tag[] {
  const names = new Set(Object.keys(consoleRoutes).map(tagOf));
  return [...names].map((name) => ({
    name,
    description:
      "The API of the console, also for scripts: send an admin token as `Authorization: Bearer sluice-admin-…`. Times are Unix milliseconds, amounts are USD, lists are paged by `cursor`.",
  }));
}

/** `admin-key-requests` for the route `keyRequests.list`. */
function tagOf(id: string): string {
  const resource = id.replace(/\..*/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `admin-${resource}`;
}

function operationOf(id: string, spec: Route): Operation {
  return {
    operationId: id.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    summary: spec.summary,
    description: [whoMay[spec.needs], ...(spec.fresh === true ? ["A session must have signed in recently."] : [])].join(
      " ",
    ),
    tags: [tagOf(id)],
    security: spec.needs === "public" ? [] : [{ adminToken: [] }, { session: [] }],
    parameters: [...pathParameters(spec.path), ...queryParameters(spec.query)],
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { "application/json": { schema: jsonSchema(spec.body, "input") } } },
        }),
    responses: {
      [String(spec.status ?? 200)]: {
        description: "Success.",
        content: { "application/json": { schema: jsonSchema(spec.answer, "output") } },
      },
      ...errorReferences(400, 401, 403, 404, ...(spec.method === "GET" ? [] : [409, 413, 415]), 500),
    },
  };
}

const whoMay: Readonly<Record<Need, string>> = {
  public: "Public.",
  "signed-in": "For any signed-in user.",
  viewer: "For viewers of the workspace and above.",
  member: "For members of the workspace and above.",
  admin: "For admins of the workspace and above.",
  owner: "For owners of the workspace, and administrators.",
  administrator: "For administrators.",
};

function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/\{([a-z]+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: pathDescriptions[name] ?? `The id of the ${name}.`,
    schema: { type: "string" },
  }));
}

const pathDescriptions: Readonly<Record<string, string>> = {
  workspace: "Id or slug. Administrators may use `-` for all workspaces in lists.",
  model: "The model's name, percent-encoded.",
};

function queryParameters(query: z.ZodType | undefined): Parameter[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(query.shape).map(([name, schema]) => {
    const { description, ...rest } = jsonSchema(schema, "input");
    return {
      name,
      in: "query",
      required: !schema.safeParse(undefined).success,
      description:
        typeof description === "string"
          ? description
          : (queryDescriptions[name] ?? `Filter by ${name.replaceAll("_", " ")}.`),
      schema: rest,
    };
  });
}

const queryDescriptions: Readonly<Record<string, string>> = {
  cursor: "`next` of the previous page.",
  limit: "Maximum number of items. Default: 50.",
  from: "Unix milliseconds, inclusive.",
  to: "Unix milliseconds, exclusive.",
  search: "Part of a name.",
  step: "Width of a step.",
  by: "What to group by.",
  min_ms: "Minimum duration in milliseconds.",
};

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: withoutNeeds });
  return rest;
}

/** Turns our `needs` keyword into a sentence, since OpenAPI tools do not know it. */
function withoutNeeds({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  const { needs } = jsonSchema;
  if (typeof needs !== "string") return;
  delete jsonSchema["needs"];
  const description = jsonSchema["description"];
  jsonSchema["description"] = `${typeof description === "string" ? `${description} ` : ""}${whoMay[needs as Need]}`;
}
