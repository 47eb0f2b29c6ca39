import { expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { errorCodes } from "./error-codes.ts";
import type { Operation, PathItem } from "./openapi/types.ts";
import { openApiDocument } from "./openapi.ts";

const document = openApiDocument("https://ai.example.com");
const operations = Object.entries<PathItem>(document.paths).flatMap(([path, item]) =>
  Object.values<Operation>({ ...item }).map((operation) => ({ path, operation })),
);

test("every reference in the API description can be resolved", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(20);
  for (const reference of references) {
    expect(reference).toStartWith("#/");
    let target: unknown = document;
    for (const step of reference.slice(2).split("/")) {
      target = target !== null && typeof target === "object" ? Reflect.get(target, step) : undefined;
    }
    expect(target, reference).toBeObject();
  }
});

test("every operation has a unique id, a summary and a declared tag, and describes each response", () => {
  const tags = new Set(document.tags.map((tag) => tag.name));
  expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(tags);
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  for (const { operation } of operations) {
    expect(operation.summary).not.toBe("");
    // The API reference shows one tag at a time.
    expect(operation.tags).toHaveLength(1);
    expect(Object.keys(operation.responses).every((status) => /^[1-5]\d\d$/.test(status))).toBe(true);
    for (const response of Object.values(operation.responses)) {
      expect("$ref" in response || response.description !== "").toBe(true);
    }
  }
});

test("every parameter in a path is declared, and every declared one is in the path", () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(declared.map((parameter) => parameter.name)).toEqual(inPath.filter((name) => name !== undefined));
    expect(declared.every((parameter) => parameter.required === true)).toBe(true);
  }
});

test("every schema is valid JSON Schema 2020-12, as OpenAPI 3.1 requires, and examples are valid", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://schemas.test/", components: document.components });
  for (const name of Object.keys(document.components.schemas)) {
    expect(() => ajv.compile({ $ref: `https://schemas.test/#/components/schemas/${name}` })).not.toThrow();
  }
  const chat = ajv.compile({ $ref: "https://schemas.test/#/components/schemas/ChatRequest" });
  const media = document.paths["/v1/chat/completions"]?.post?.requestBody?.content["application/json"];
  for (const example of Object.values(media?.examples ?? {})) expect(chat(example.value)).toBe(true);
  expect(chat({ messages: [] })).toBe(false);
});

test("every request example is valid against its schema", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://schemas.test/", components: document.components });
  const bodies = operations.flatMap(({ operation }) => Object.values(operation.requestBody?.content ?? {}));
  let checked = 0;
  for (const { schema, examples } of bodies) {
    if (typeof schema["$ref"] !== "string") continue;
    const obeys = ajv.compile({ $ref: `https://schemas.test/${schema["$ref"]}` });
    for (const { value } of Object.values(examples ?? {})) {
      expect(obeys(value), JSON.stringify(value)).toBe(true);
      checked++;
    }
  }
  expect(checked).toBeGreaterThan(5);
});

test("unknown request fields are allowed in model calls and refused during setup", () => {
  const { ChatRequest, VideoTaskRequest, SetupRequest } = document.components.schemas;
  expect(ChatRequest?.["additionalProperties"]).not.toBe(false);
  expect(VideoTaskRequest?.["additionalProperties"]).not.toBe(false);
  expect(SetupRequest?.["additionalProperties"]).toBe(false);
});

test("every error code a caller can receive is described under its status", () => {
  for (const [code, row] of Object.entries(errorCodes)) {
    const response = document.components.responses[`Error${row.status}`];
    if (row.status === 499) expect(response).toBeUndefined();
    else expect(response?.description).toContain(`\`${code}\``);
  }
});

test("/v1 needs a key, the admin API a token or a session, and other paths nothing", () => {
  for (const { path, operation } of operations) {
    const asked = operation.security?.flatMap((scheme) => Object.keys(scheme)) ?? ["a key"];
    const isAdmin = operation.tags.some((tag) => tag.startsWith("admin-"));
    const open = isAdmin
      ? operation.description === "Public."
      : !/^\/(upload|v1(beta)?|model|projects|managed|user|api\/oauth)\//.test(path);
    expect(asked.length === 0, path).toBe(open);
    expect(asked.includes("adminToken"), path).toBe(isAdmin && !open);
  }
  expect(document.servers).toEqual([{ url: "https://ai.example.com" }]);
});
