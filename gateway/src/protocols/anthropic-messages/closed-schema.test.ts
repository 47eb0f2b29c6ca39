import { expect, test } from "bun:test";
import { closedSchema } from "../turn/schemas.ts";

test("sets additionalProperties to false for every object", () => {
  const inner = { type: "object", properties: { b: { type: "string" } } };
  expect(closedSchema({ type: "object", properties: { a: { type: "array", items: inner } } })).toEqual({
    type: "object",
    properties: { a: { type: "array", items: { ...inner, additionalProperties: false } } },
    additionalProperties: false,
  });
  const open = { type: "object", properties: {}, additionalProperties: { type: "string" } };
  expect(closedSchema(open)).toEqual(open);
});

// 400 otherwise, for the whole request.
test("moves unsupported keywords to the description", () => {
  const properties = {
    age: { type: "integer", minimum: 0, maximum: 150, description: "In years." },
    tags: { type: "array", items: { type: "string", maxLength: 9 }, minItems: 1, maxItems: 3 },
    phone: { type: "string", format: "phone" },
    day: { type: "string", format: "date", pattern: "^2" },
  };
  expect(closedSchema({ type: "object", properties, additionalProperties: false })["properties"]).toEqual({
    age: { type: "integer", description: "In years.\n\n{minimum: 0, maximum: 150}" },
    tags: {
      type: "array",
      items: { type: "string", description: "{maxLength: 9}" },
      minItems: 1,
      description: "{maxItems: 3}",
    },
    phone: { type: "string", description: '{format: "phone"}' },
    day: properties.day,
  });
});

test("keeps properties named like keywords and turns oneOf into anyOf", () => {
  const schema = { type: "object", properties: { minimum: { type: "number" }, format: { type: "string" } } };
  expect(closedSchema(schema)["properties"]).toEqual(schema.properties);
  expect(closedSchema({ oneOf: [{ type: "string" }, { type: "null" }] })).toEqual({
    anyOf: [{ type: "string" }, { type: "null" }],
  });
});
