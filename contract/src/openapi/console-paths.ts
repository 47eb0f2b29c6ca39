import { z } from "zod";
import type { Need } from "../console/roles.ts";
import type { Route } from "../console/route.ts";
import { consoleRoutes } from "../console/routes.ts";
import { errorReferences } from "./error-responses.ts";
import type { JsonSchema, Operation, Parameter, PathItem } from "./types.ts";

/** The admin API, made from the table that the gateway answers by. */
export function consolePaths(): Record<string, PathItem> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [id, spec] of Object.entries<Route>(consoleRoutes)) {
    const item = paths[spec.path] ?? {};
    item[spec.method.toLowerCase()] = operationOf(id, spec);
    paths[spec.path] = item;
  }
  return paths;
}

function operationOf(id: string, spec: Route): Operation {
  return {
    operationId: id.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    summary: spec.summary,
    description: [whoMay[spec.needs], ...(spec.fresh === true ? ["A session must have signed in lately."] : [])].join(
      " ",
    ),
    tags: ["admin"],
    security: spec.needs === "public" ? [] : [{ adminToken: [] }, { session: [] }],
    parameters: [...pathParameters(spec.path), ...queryParameters(spec.query)],
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { "application/json": { schema: jsonSchema(spec.body, "input") } } },
        }),
    responses: {
      [String(spec.status ?? 200)]: {
        description: "Done.",
        content: { "application/json": { schema: jsonSchema(spec.answer, "output") } },
      },
      ...errorReferences(400, 401, 403, 404, ...(spec.method === "GET" ? [] : [409, 413, 415]), 500),
    },
  };
}

const whoMay: Readonly<Record<Need, string>> = {
  public: "For anybody.",
  "signed-in": "For anybody who is signed in.",
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
    description: pathWords[name] ?? `The id of the ${name}.`,
    schema: { type: "string" },
  }));
}

const pathWords: Readonly<Record<string, string>> = {
  workspace: "Id or slug. On lists `-` stands for every workspace, for administrators.",
  model: "The model's name, percent-encoded whole.",
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
        typeof description === "string" ? description : (queryWords[name] ?? `Only those with this ${name}.`),
      schema: rest,
    };
  });
}

const queryWords: Readonly<Record<string, string>> = {
  cursor: "`next` of the page before.",
  limit: "How many; default 50.",
  from: "Unix milliseconds, inclusive.",
  to: "Unix milliseconds, exclusive.",
  search: "Part of a name.",
  step: "How wide a step is.",
  by: "What the lines stand for.",
  min_ms: "Only those that took at least this many milliseconds.",
};

function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: withoutNeeds });
  return rest;
}

/** Who may see a field is said in words, not in a keyword that nobody knows. */
function withoutNeeds({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  const { needs } = jsonSchema;
  if (typeof needs !== "string") return;
  delete jsonSchema["needs"];
  const said = jsonSchema["description"];
  jsonSchema["description"] = `${typeof said === "string" ? `${said} ` : ""}${whoMay[needs as Need]}`;
}
