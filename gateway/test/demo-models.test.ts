import { expect, test } from "bun:test";
import { modelTypes } from "@sluice/contract";
import { openDemoUpstream } from "../src/main/demo-upstream.ts";
import { providerKind, readModelsPage, suggestedModel } from "../src/providers/index.ts";

test("an import from the built-in demo offers a model of each type, including videos and images", async () => {
  const demo = providerKind("demo");
  if (demo === null) throw new Error("There is no demo.");
  const headers = { "anthropic-version": "2023-06-01", "x-goog-api-key": "demo", authorization: "Bearer demo" };
  const answer = await openDemoUpstream().fetch(new Request("http://simulator/v1/models", { headers }));
  const offered = (readModelsPage(await answer.json())?.models ?? []).map((model) => suggestedModel(demo, model));
  expect(offered.map(({ type }) => type).toSorted()).toEqual([...modelTypes].toSorted());
  expect(offered).toContainEqual({ name: "demo-video", type: "video" });
  expect(offered).toContainEqual({ name: "demo-image", type: "image" });
});
