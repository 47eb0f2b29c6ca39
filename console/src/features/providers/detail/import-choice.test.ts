import { expect, test } from "bun:test";
import { consoleRoutes, type UpstreamModel } from "@sluice/contract";
import { allToggled, choiceMax, choosable, effectOf, fittingModels, importBody, toggled } from "./import-choice.ts";

const upstream = (id: string, more: Partial<UpstreamModel> = {}): UpstreamModel => ({
  id,
  owned_by: "vendor",
  created_at: null,
  served_as: [],
  suggested: { name: id, type: "chat" },
  price: null,
  price_guessed: false,
  context_window: null,
  max_output_tokens: null,
  deprecated: false,
  retires_at: null,
  ...more,
});
const listed = [
  upstream("gpt-5"),
  upstream("gpt-5-mini", { served_as: ["small"], max_output_tokens: 128_000 }),
  upstream("veo-4", { owned_by: "labs", suggested: { name: "veo", type: "video" } }),
];
const ids = (search: Record<string, string>) => fittingModels(listed, search).map(({ id }) => id);

test("upstream models are found by name or owner, by type, and by whether they are served", () => {
  expect(ids({})).toEqual(["gpt-5", "gpt-5-mini", "veo-4"]);
  expect(ids({ find: "MINI" })).toEqual(["gpt-5-mini"]);
  expect(ids({ find: "labs" })).toEqual(["veo-4"]);
  expect(ids({ type: "video" })).toEqual(["veo-4"]);
  expect(ids({ served: "no" })).toEqual(["gpt-5", "veo-4"]);
  expect(ids({ served: "yes" })).toEqual(["gpt-5-mini"]);
});

test("a selected model starts with the suggested name, and the body has the gateway's format", () => {
  const choice = listed.slice(1).reduce(toggled, new Map());
  expect(importBody(choice)).toEqual({
    models: [
      {
        upstream_model: "gpt-5-mini",
        name: "gpt-5-mini",
        type: "chat",
        owned_by: "vendor",
        max_output_tokens: 128_000,
      },
      { upstream_model: "veo-4", name: "veo", type: "video", owned_by: "labs" },
    ],
  });
  expect(consoleRoutes["providers.import"].body?.safeParse(importBody(choice)).success).toBe(true);
  expect(listed.slice(1).reduce(toggled, choice).size).toBe(0);
  const untold = toggled(new Map(), upstream("bare", { owned_by: null }));
  expect(importBody(untold)).toEqual({ models: [{ upstream_model: "bare", name: "bare", type: "chat" }] });
});

test("selecting all leaves out models that are already served or cannot be imported", () => {
  const models = new Map([
    ["gpt-5", { type: "chat", managed_by: "file", deployments: [] } as never],
    ["veo", { type: "chat", managed_by: "console", deployments: [] } as never],
  ]);
  const open = choosable("main", [...listed, upstream("fresh")], models);
  expect(open.map(({ id }) => id)).toEqual(["fresh"]);
  expect(choosable("main", listed, new Map()).map(({ id }) => id)).toEqual(["gpt-5", "veo-4"]);
});

test("selects all models up to the maximum of one import, and deselects all", () => {
  const many = Array.from({ length: choiceMax + 20 }, (_, place) => upstream(`m-${place}`));
  expect(allToggled(new Map(), many).size).toBe(choiceMax);
  const all = allToggled(
    new Map([["other", { name: "other", type: "chat" as const, ownedBy: null, outputTokensMax: null }]]),
    listed,
  );
  expect(all.size).toBe(4);
  expect([...allToggled(all, listed).keys()]).toEqual(["other"]);
});

test("shows the effect of a name before the import", () => {
  const deployment = { provider: "main", upstream_model: "gpt-5" };
  const there = { type: "chat", managed_by: "console", deployments: [deployment] } as never;
  const models = new Map([
    ["gpt-5", there],
    ["locked", { type: "chat", managed_by: "file", deployments: [] } as never],
  ]);
  const tone = (name: string, type: "chat" | "video" = "chat", model = "gpt-5") =>
    effectOf("main", model, { name, type }, models).tone;
  expect([tone("fresh"), tone("gpt-5", "chat", "gpt-5-2026")]).toEqual(["new", "extends"]);
  expect([tone("gpt-5"), tone("gpt-5", "video"), tone("locked"), tone("two words"), tone("")]).toEqual(
    Array(5).fill("wrong"),
  );
});
