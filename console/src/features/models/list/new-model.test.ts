import { expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { emptyModel, modelBody, modelFaults } from "./new-model.ts";

const none = new Set<string>();

test("submitting an incomplete form shows the error of each field", () => {
  expect(modelFaults(emptyModel, none)).toEqual({ name: "Enter a name.", provider: "Choose a provider." });
  const draft = { ...emptyModel, provider: "main" };
  expect(modelFaults({ ...draft, name: "two words" }, none)["name"]).toContain("no spaces");
  expect(modelFaults({ ...draft, name: " gpt " }, new Set(["gpt"]))).toEqual({
    name: "A model with this name already exists.",
  });
  expect(modelFaults({ ...draft, name: "gpt" }, none)).toEqual({});
});

test("the request matches the API; an empty upstream model means the same name", () => {
  const draft = { ...emptyModel, name: " gpt ", provider: "main", upstreamModel: " " };
  const body = modelBody(draft, false);
  expect(body).toEqual({ name: "gpt", type: "chat", deployments: [{ provider: "main" }] });
  expect(consoleRoutes["models.create"].body?.safeParse(body).success).toBe(true);
  const priced = { ...draft, price: { input: 1 }, fallbacks: ["mini"] };
  expect(modelBody(priced, false)).toEqual({ ...body, price: { input: 1 }, fallbacks: ["mini"] });
  expect(modelBody(priced, true)).toEqual({ ...body, use_list_price: true, fallbacks: ["mini"] });
  expect(modelBody({ ...priced, usesListPrice: false }, true)).toMatchObject({ price: { input: 1 } });
});
